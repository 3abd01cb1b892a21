package langgraph

import (
	"slices"
	"strings"
)

// place is where in the graph something happens, and whose speech it is.
type place struct {
	node, namespace string
	tags            []string
	participant     string // in the words of the graph, agent in those of LangChain
	agent           string
	model, provider string
}

// key tells places apart.
func (p place) key() string { return p.namespace + "|" + p.node }

// placeOf reads the metadata that LangGraph puts beside each message and event.
func placeOf(metadata raw) place {
	o := objectOf(metadata)
	path := segments(o.text("langgraph_checkpoint_ns"))
	if len(path) > 0 {
		path = path[:len(path)-1] // the last one is the node itself
	}
	return place{
		node: o.text("langgraph_node"), namespace: strings.Join(path, "/"), tags: list[string](o["tags"]),
		participant: o.text("participant"), agent: o.text("lc_agent_name"), model: o.text("ls_model_name"), provider: o.text("ls_provider"),
	}
}

// segments are the names of the nodes in a namespace such as team:UUID|research:UUID.
func segments(namespace string) []string {
	if namespace == "" {
		return nil
	}
	all := strings.Split(namespace, "|")
	for i, s := range all {
		all[i], _, _ = strings.Cut(s, ":")
	}
	return all
}

// speaker finds out who speaks: "" is the assistant without a name of its own.
func (o Options) speaker(p place, m message) string {
	names := []string{p.participant, p.agent, m.name}
	for _, tag := range p.tags {
		if name, ok := strings.CutPrefix(tag, "participant:"); ok {
			names = append(names, name)
		}
	}
	names = append(names, o.Participants[p.node])
	if i := slices.IndexFunc(names, func(n string) bool { return n != "" }); i >= 0 {
		return names[i]
	}
	return ""
}

// shows reports whether a user sees what happens at a place.
func (o Options) shows(p place) bool {
	if p.namespace != "" && o.Subgraphs == "hide" {
		return false
	}
	return (len(o.Show) == 0 || slices.ContainsFunc(o.Show, p.is)) && !slices.ContainsFunc(o.Hide, p.is) && !slices.Contains(p.tags, "langsmith:hidden")
}

// is reports whether a pattern means this place: tag:NAME, namespace:PATH with all that is
// below it, or the name of a node.
func (p place) is(pattern string) bool {
	if tag, ok := strings.CutPrefix(pattern, "tag:"); ok {
		return slices.Contains(p.tags, tag)
	}
	if path, ok := strings.CutPrefix(pattern, "namespace:"); ok {
		return p.namespace == path || strings.HasPrefix(p.namespace, path+"/")
	}
	return p.node == pattern
}
