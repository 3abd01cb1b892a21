"""The graphs of the tests of adapter/langgraph for LangGraph's Python server. The last word of the prompt chooses what the agent does."""
import json
import time

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt


def say(text):
    return [{"content": word + " "} for word in text.split(" ")[:-1]] + [{"content": text.split(" ")[-1]}]


def call(*calls):
    chunks = [{"content": "", "tool_call_chunks": [{"index": i, "id": c[0], "name": c[1], "args": ""}]} for i, c in enumerate(calls)]
    texts = [c[2] if isinstance(c[2], str) else json.dumps(c[2]) for c in calls]
    for at in range(0, max(map(len, texts)), 7):
        chunks += [{"content": "", "tool_call_chunks": [{"index": i, "id": None, "name": None, "args": t[at:at + 7]}]} for i, t in enumerate(texts) if at < len(t)]
    return chunks


class Scripted(BaseChatModel):
    script: object
    delay: float = 0.001

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        raise NotImplementedError

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        chunks, called = self.script(messages), False
        for fields in chunks:
            time.sleep(self.delay)
            if "fail" in fields:
                raise RuntimeError(fields["fail"])
            called = called or "tool_call_chunks" in fields
            chunk = ChatGenerationChunk(message=AIMessageChunk(**fields))
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
        chunk = ChatGenerationChunk(message=AIMessageChunk(
            content="", response_metadata={"finish_reason": "tool_calls" if called else "stop", "model_name": "scripted-1"},
            usage_metadata={"input_tokens": 10, "output_tokens": len(chunks), "total_tokens": 10 + len(chunks)}))
        if run_manager:
            run_manager.on_llm_new_token("", chunk=chunk)
        yield chunk


@tool
def get_weather(city: str) -> str:
    """The weather."""
    return json.dumps({"city": city, "degrees": 21})


@tool
def wait_a_bit(ms: int) -> str:
    """Waits."""
    time.sleep(ms / 1000)
    return f"waited {ms}"


@tool
def explode(why: str) -> str:
    """Fails."""
    raise RuntimeError("the tool exploded")


@tool
def send_mail(to: str) -> str:
    """Sends."""
    return f"sent to {to}"


@tool
def ask_first(to: str) -> str:
    """Asks."""
    answer = interrupt({"question": f"Send to {to}?", "options": ["yes", "no"]})
    return f"sent to {to}" if answer == "yes" else f"not sent: {json.dumps(answer)}"


TOOLS = [get_weather, wait_a_bit, explode, send_mail, ask_first]
text_of = lambda m: m.content if isinstance(m.content, str) else "".join(b.get("text", "") for b in m.content)


def answers(messages):
    last = max(i for i, m in enumerate(messages) if isinstance(m, HumanMessage))
    return [m for m in messages[last + 1:] if isinstance(m, ToolMessage)]


SCRIPTS = {
    "weather": lambda n, a: say("Let me look. ") + call(("call_w", "get_weather", {"city": "Paris"})) if n == 0 else say(f"It is {json.loads(a[0].content)['degrees']} degrees."),
    "parallel": lambda n, a: call(("call_1", "get_weather", {"city": "Paris"}), ("call_2", "wait_a_bit", {"ms": 30})) if n == 0 else say("Both are done."),
    "broken": lambda n, a: call(("call_b", "explode", {"why": "test"})) if n == 0 else say("The tool failed."),
    "fail": lambda n, a: say("I start, but ") + [{"fail": "the model exploded"}],
    "think": lambda n, a: [{"content": [{"type": "thinking", "thinking": "I should think. ", "index": 0}]}, {"content": [{"type": "thinking", "signature": "c2ln", "thinking": "", "index": 0}]}] + say("So I answer."),
    "reason": lambda n, a: [{"content": [{"type": "reasoning", "reasoning": "I reason. ", "index": 0}]}] + say("So I answer."),
    "deepseek": lambda n, a: [{"content": "", "additional_kwargs": {"reasoning_content": "Deep. "}}] + say("So I answer."),
    "openai": lambda n, a: [{"content": "", "additional_kwargs": {"reasoning": {"summary": [{"type": "summary_text", "text": "Short. ", "index": 0}]}}}] + say("So I answer."),
    "cite": lambda n, a: [{"content": [{"type": "text", "text": "As they say. ", "index": 1, "annotations": [{"type": "citation", "url": "https://example.test/page", "title": "A page"}]}]}],
    "cut": lambda n, a: call(("call_c", "get_weather", '{"city":"Par')) if n == 0 else say("It was cut."),
    "mails": lambda n, a: call(("call_m1", "send_mail", {"to": "ann@example.test"}), ("call_m2", "send_mail", {"to": "bob@example.test"})) if n == 0 else say("That was it."),
    "mail": lambda n, a: say("I will write. ") + call(("call_m", "send_mail", {"to": "ann@example.test"})) if n == 0 else say("That was it."),
    "ask": lambda n, a: call(("call_a", "ask_first", {"to": "ann@example.test"})) if n == 0 else say(f"The tool: {a[0].content}"),
    "slow": lambda n, a: say(" ".join(f"w{i}" for i in range(40))),
    "big": lambda n, a: [{"content": "data: x\n\nevent: fake\n\u2028 日本語 😀 "}, {"content": "x" * 250_000}],
}


def script(messages):
    humans, done = [m for m in messages if isinstance(m, HumanMessage)], answers(messages)
    word = (text_of(humans[-1]).split() or [""])[-1]
    if word in SCRIPTS:
        return SCRIPTS[word](len(done), done)
    return say("You said: " + " / ".join(text_of(m) for m in humans))


def model(state, config):
    slow = text_of([m for m in state["messages"] if isinstance(m, HumanMessage)][-1]).endswith("slow")
    return {"messages": [Scripted(script=script, delay=0.06 if slow else 0.001).invoke(state["messages"], config)]}


def more(then):
    return lambda state: then if state["messages"][-1].tool_calls else END


def builder():
    graph = StateGraph(MessagesState).add_node("model", model).add_node("tools", ToolNode(TOOLS, handle_tool_errors=True))
    return graph.add_edge(START, "model").add_conditional_edges("model", more("tools"), ["tools", END]).add_edge("tools", "model")


agent = builder().compile()
paused = builder().compile(interrupt_before=["tools"])


class Talk(MessagesState):
    turns: int


def speaker(name, lines):
    def speak(state, config):
        line = lines[(state.get("turns") or 0) // 2 % len(lines)]
        said = Scripted(script=lambda _: say(line), delay=0.005).invoke(state["messages"], {**config, "metadata": {**config.get("metadata", {}), "participant": name}})
        return {"messages": [said], **({"turns": (state.get("turns") or 0) + 1} if len(lines) > 1 else {})}
    return speak


duo = (StateGraph(Talk).add_node("alice", speaker("alice", ["Shall we plan the trip?", "I book the train."])).add_node("bob", speaker("bob", ["Paris it is.", "I book the hotel."]))
       .add_edge(START, "alice").add_edge("alice", "bob").add_conditional_edges("bob", lambda s: END if s["turns"] >= 4 else "alice", ["alice", END]).compile())
atonce = (StateGraph(MessagesState).add_node("alice", speaker("alice", ["I talk while you talk too."])).add_node("bob", speaker("bob", ["And I do not wait for you."]))
          .add_edge(START, "alice").add_edge(START, "bob").compile())
nested = (StateGraph(MessagesState).add_node("team", builder().compile(name="team")).add_node("writer", lambda s, config: {"messages": [Scripted(script=lambda _: say("Here is the report.")).invoke(s["messages"], config)]})
          .add_edge(START, "team").add_edge("team", "writer").compile())


def review(state):
    ai = state["messages"][-1]
    decisions = interrupt({
        "action_requests": [{"name": c["name"], "args": c["args"], "description": f"Run {c['name']}?"} for c in ai.tool_calls],
        "review_configs": [{"action_name": c["name"], "allowed_decisions": ["approve", "edit", "reject"]} for c in ai.tool_calls],
    })["decisions"]
    refused, kept = [], []
    for c, d in zip(ai.tool_calls, decisions):
        if d["type"] == "reject":
            refused.append(ToolMessage(tool_call_id=c["id"], name=c["name"], status="error", content=d["message"]))
        kept.append({**c, "args": d["edited_action"]["args"]} if d["type"] == "edit" else c)
    again = AIMessage(id=ai.id, content=ai.content, tool_calls=kept)
    return Command(goto="model" if refused else "tools", update={"messages": [again, *refused]})


approval = (StateGraph(MessagesState).add_node("model", model).add_node("review", review, destinations=("model", "tools")).add_node("tools", ToolNode(TOOLS))
            .add_edge(START, "model").add_conditional_edges("model", more("review"), ["review", END]).add_edge("tools", "model").compile())


class Two(MessagesState):
    left: object
    right: object


two = (StateGraph(Two).add_node("ask_left", lambda s: {"left": interrupt({"ask": "left?"})}).add_node("ask_right", lambda s: {"right": interrupt("right?")})
       .add_node("sum", lambda s: {"messages": [AIMessage(f"left {json.dumps(s['left'])}, right {json.dumps(s['right'])}")]})
       .add_edge(START, "ask_left").add_edge(START, "ask_right").add_edge(["ask_left", "ask_right"], "sum").compile())


def work(state):
    write = get_stream_writer()
    for value in [{"type": "progress", "value": 1}, {"type": "progress", "id": "p", "value": 2}, {"none": True}, "a text", [1, 2]]:
        write(value)
    return {"messages": [{"role": "assistant", "content": "A plain object."}]}


custom = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()
