# Prints how many spans and tokens an MLflow server has, as JSON.
import json
import sys

from mlflow import MlflowClient

client = MlflowClient(tracking_uri=sys.argv[1])
count = {"Spans": 0, "Input": 0, "Output": 0}
token = None
while True:
    page = client.search_traces(locations=["0"], max_results=100, page_token=token)
    for trace in page:
        for span in trace.data.spans:
            count["Spans"] += 1
            count["Input"] += span.attributes.get("gen_ai.usage.input_tokens") or 0
            count["Output"] += span.attributes.get("gen_ai.usage.output_tokens") or 0
    token = page.token
    if not token:
        break
print(json.dumps(count))
