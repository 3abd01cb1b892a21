"""A backend of a user's own: FastAPI and sse-starlette publish the events of astream_events. `app.py GRAPH PROMPT` prints them instead."""
import asyncio
import json
import sys

import uvicorn
from fastapi import FastAPI
from langchain_core.load import dumps
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Interrupt
from sse_starlette.sse import EventSourceResponse

import graphs

app = FastAPI()


def plain(value):
    if isinstance(value, Interrupt):
        return {"id": value.id, "value": value.value}
    return value.model_dump() if isinstance(value, BaseMessage) else str(value)


async def events(name, given, thread):
    graph = getattr(graphs, name)
    graph.checkpointer = graph.checkpointer or InMemorySaver()
    async for event in graph.astream_events(given, {"configurable": {"thread_id": thread}}, version="v2"):
        participant = event.get("metadata", {}).get("participant")
        yield {**event, "participant": participant} if participant else event


@app.get("/ok")
def ok():
    return {"ok": True}


@app.post("/chat/{name}")
async def chat(name: str, body: dict):
    given = Command(resume=body["resume"]) if "resume" in body else {"messages": [{"role": "user", "content": body["message"]}]}

    async def stream():
        try:
            yield {"data": json.dumps({"event": "app_started", "data": {"graph": name}})}
            async for event in events(name, given, body["thread_id"]):
                yield {"data": json.dumps(event, default=plain)}
        except Exception as error:
            yield {"event": "error", "data": json.dumps({"error": type(error).__name__, "message": str(error)})}

    return EventSourceResponse(stream())


async def once(name, prompt):
    async for event in events(name, {"messages": [{"role": "user", "content": prompt}]}, "once"):
        print(dumps(event), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] != "--port":
        asyncio.run(once(sys.argv[1], sys.argv[2]))
    else:
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
