package trace

// Kinds lists the closed set, in the order of the schema.
func Kinds() []Kind {
	return []Kind{
		KindPrompt, KindReply,
		KindMessageStart, KindMessageDelta, KindMessage,
		KindThoughtStart, KindThoughtDelta, KindThought,
		KindToolCallStart, KindToolCallDelta, KindToolCall, KindToolResultProgress, KindToolResult,
		KindPermissionRequest, KindPermissionResponse, KindQuestion, KindAnswer, KindPause,
		KindStep, KindUsage, KindPlan, KindFileChange, KindSource, KindFile, KindData,
		KindRewind, KindError, KindStatus, KindStop,
	}
}
