export { TributaryTransport, type HistoryPage, type TributaryTransportOptions } from './transport.js';
export { Conversation } from './conversation.js';
export type {
  Callbacks,
  ChatLike,
  ChatOptions,
  Component,
  ConversationOptions,
  ConversationState,
  Refused,
  TributaryChatOptions,
  TributaryView,
} from './options.js';
export { Registry } from './registry.js';
export { isNetworkError, TributaryError } from './errors.js';
export type { GatewayOptions } from './gateway.js';
export type { FollowOptions } from './follow.js';
export { inputText, inputView, jsonLines, requestText, type InputChange, type InputView } from './input.js';
export { escapedJson, visiblePieces, visibleText, type VisiblePiece } from './visible.js';
export { pendingRequests, requestIn } from './requests.js';
export { textOf } from './message.js';
export type {
  AskPermissionInput,
  AskUserInput,
  TributaryDataParts,
  TributaryMetadata,
  TributaryTools,
  TributaryUIMessage,
  Usage,
} from './message.js';
export type {
  AfterStop,
  Agent,
  Answer,
  Choice,
  Command,
  Controls,
  Outcome,
  PendingRequest,
  PermissionAnswer,
  QuestionAnswer,
  QuestionChoice,
  QueuedPrompt,
  RequestOption,
  Score,
  Session,
  SessionEvent,
  SessionsEvent,
  Stopped,
  TurnNews,
  TurnState,
} from './events.js';
export type { components, operations, paths } from './openapi.js';
