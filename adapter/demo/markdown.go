package demo

import "strings"

// page is Markdown with everything that a page has to draw, and to refuse.
const page = `# A heading

## A second one

Some **bold**, *slanted* and ~~removed~~ text, with ` + "`inline code`" + ` and a [link](https://example.com/rivers "Rivers").
A line break follows.\
An address by itself: https://example.com.

> A quote,
> of two lines.
>
> > And a quote in it.

| river  | length (km) | sea       |
| :----- | ----------: | :-------: |
| Rhine  |       1,233 | North Sea |
| Danube |       2,850 | Black Sea |

- one
- two
  - two and a half
    1. first
    2. second
- three

- [x] Read the file
- [ ] Answer

` + "```go" + `
// Flow is the flow of a river.
func (r River) Flow() int { return r.Level }
` + "```\n\n```typescript" + `
const rivers: Record<string, number> = { Rhine: 1233, Danube: 2850 };
console.log(Object.keys(rivers).join(", "), '<b>no tag</b>');
` + "```\n\n```python" + `
def flow(level: int) -> int:
    """The flow is the level."""
    return level  # a line that is so long that a narrow page has to scroll it: 0123456789 0123456789 0123456789
` + "```\n\n```" + `
A fence without a language.
` + "```" + `

---

### Hostile HTML

<img src=x onerror="window.hacked = 'img'">
<script>window.hacked = 'script'</script>
<a href="javascript:window.hacked='a'">an HTML link</a>, [a script link](javascript:window.hacked='link'), [a data link](data:text/html,<script>window.hacked='data'</script>)
<style>body { display: none }</style><iframe src="https://example.com"></iframe><svg onload="window.hacked='svg'"></svg>
<div style="position:fixed;inset:0;background:red">a curtain</div>
![a picture of elsewhere](https://example.com/tracker.png)

The end.
`

func markdown(s *stage) { s.write(1, strings.SplitAfter(page, " ")...) }
