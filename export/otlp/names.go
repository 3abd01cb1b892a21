package otlp

// This file has the names of all attributes. Those that begin with gen_ai are of the semantic
// conventions for generative AI, version 0.1.0, which are in development.

const (
	sessionID      = "session.id"
	userID         = "user.id"
	conversationID = "gen_ai.conversation.id"

	operation           = "gen_ai.operation.name"
	provider            = "gen_ai.provider.name"
	agentName           = "gen_ai.agent.name"
	agentVersion        = "gen_ai.agent.version"
	requestModel        = "gen_ai.request.model"
	responseModel       = "gen_ai.response.model"
	finishReasons       = "gen_ai.response.finish_reasons"
	timeToFirstChunk    = "gen_ai.response.time_to_first_chunk"
	inputMessages       = "gen_ai.input.messages"
	outputMessages      = "gen_ai.output.messages"
	toolDefinitions     = "gen_ai.tool.definitions"
	inputTokens         = "gen_ai.usage.input_tokens"                //nolint:gosec // the name of a count or a time
	outputTokens        = "gen_ai.usage.output_tokens"               //nolint:gosec // the name of a count or a time
	cacheReadTokens     = "gen_ai.usage.cache_read.input_tokens"     //nolint:gosec // the name of a count or a time
	cacheCreationTokens = "gen_ai.usage.cache_creation.input_tokens" //nolint:gosec // the name of a count or a time
	reasoningTokens     = "gen_ai.usage.reasoning.output_tokens"     //nolint:gosec // the name of a count or a time
	usageCost           = "gen_ai.usage.cost"
	toolName            = "gen_ai.tool.name"
	toolCallID          = "gen_ai.tool.call.id"
	toolType            = "gen_ai.tool.type"
	toolArguments       = "gen_ai.tool.call.arguments"
	toolResult          = "gen_ai.tool.call.result"

	evaluationEvent       = "gen_ai.evaluation.result"
	evaluationName        = "gen_ai.evaluation.name"
	evaluationValue       = "gen_ai.evaluation.score.value"
	evaluationLabel       = "gen_ai.evaluation.score.label"
	evaluationExplanation = "gen_ai.evaluation.explanation"

	errorType        = "error.type"
	exceptionType    = "exception.type"
	exceptionMessage = "exception.message"

	// What Phoenix, MLflow and Langfuse read beside.
	inputValue         = "input.value"
	outputValue        = "output.value"
	openInferenceKind  = "openinference.span.kind"
	mlflowCost         = "mlflow.llm.cost"
	langfuseType       = "langfuse.observation.type"
	langfuseLevel      = "langfuse.observation.level"
	langfuseInput      = "langfuse.observation.input"
	langfuseOutput     = "langfuse.observation.output"
	langfuseCost       = "langfuse.observation.cost_details"
	langfuseFirstToken = "langfuse.observation.completion_start_time" //nolint:gosec // the name of a count or a time
	langfuseTraceName  = "langfuse.trace.name"

	// Tributary's own.
	ownSeq                = "tributary.seq"
	ownActor              = "tributary.actor"
	ownInput              = "tributary.input"
	ownStep               = "tributary.step"
	ownStepName           = "tributary.step.name"
	ownNativeID           = "tributary.step.native_id"
	ownUsageScope         = "tributary.usage.scope"
	ownContextUsed        = "tributary.context.used"
	ownContextSize        = "tributary.context.size"
	ownStopReason         = "tributary.stop.reason"
	ownStopOutcome        = "tributary.stop.outcome"
	ownRewind             = "tributary.rewind.to"
	ownToolKind           = "tributary.tool.kind"
	ownToolStatus         = "tributary.tool.status"
	ownToolTitle          = "tributary.tool.title"
	ownEvaluationCase     = "tributary.evaluation.case"
	ownEvaluationBy       = "tributary.evaluation.by"
	ownEvaluationEvidence = "tributary.evaluation.evidence"
	permissionField       = "tributary.permission."
	questionField         = "tributary.question."
)
