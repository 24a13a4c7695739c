export type { IndexedServer, ServerFailure, ToolCaution, ToolIndex } from './cache/tool-index.ts'
export type { ChangedTool, ToolChanges } from './cache/changes.ts'
export { describeParameters, type ParameterDescription } from './cache/describe-parameters.ts'
export { discoverOnce, type DiscoveryOptions } from './cache/discover.ts'
export { indexDefinitions, type IndexDefinitionsOptions } from './cache/tool-index.ts'
export { loadToolIndex, type ToolIndexLoading } from './cache/load.ts'
export type { ProjectPlace } from './cache/places.ts'
export type { ListingPool, ServerEvent as ListingEvent } from './cache/list-servers.ts'
export {
  refreshToolIndex,
  type RefreshedServer,
  type RefreshOptions,
  type RefreshReport,
} from './cache/refresh.ts'
export { readsOnly } from './cache/reads-only.ts'
export { canonicalCategory } from './category/canonical.ts'
export { categorise } from './category/categorise.ts'
export type { Category } from './category/category.ts'
export { parseParameters, readPairs } from './call/check-parameters.ts'
export {
  type BatchResult,
  checkBatch,
  longestBatch,
  runBatch,
  type StepListener,
  type StepOptions,
} from './call/steps.ts'
export { callTool } from './call/call-tool.ts'
export { type ChainResult, checkChain, longestChain, runToolChain } from './call/steps.ts'
export type {
  CallAtGate,
  CallContext,
  CallGate,
  CallIndex,
  CallRecord,
  CallServers,
  ServerRules,
  StepCaller,
} from './call/context.ts'
export {
  type DirectiveReading,
  parseBatchText,
  parseChainText,
  readDirective,
  type ToolStep,
} from './call/directive-text.ts'
export { doRequest } from './call/do-request.ts'
export {
  InvalidParametersError,
  ToolNotFoundError,
  ToolRefusedError,
  ToolRequestError,
} from './call/errors.ts'
export { bareMessage, callFailureText, partialText } from './call/failure-text.ts'
export { ambiguousName, definitionOf, findTool, namedTool } from './call/find-tool.ts'
export { forbiddenParameters, unknownParameters } from './call/check-parameters.ts'
export { unsaid } from './call/run-plan.ts'
export { decideRequest, type RequestDecision } from './call/decide-request.ts'
export { mostConsidered } from './call/decide-request.ts'
export {
  foreseeCall,
  foreseeGuard,
  type ForeseenCall,
  type ForeseenGuard,
  foreseeSteps,
} from './call/foresee.ts'
export { outcomeText, outcomeValue } from './call/content.ts'
export { parsePassthrough, type PassthroughReading } from './call/passthrough.ts'
export { planLine, type PlanLine } from './call/consent.ts'
export { proposalText } from './call/consent.ts'
export { bindParameters } from './call/steps.ts'
export { isReplaySafe } from './call/permission.ts'
export type { CallReport, FailureReport } from './call/context.ts'
export type { ProposedCall, RequestAnswer, RequestWorld } from './call/do-request.ts'
export type { ToolRequest } from './call/context.ts'
export { requireNamedPaths, requireYes } from './call/consent.ts'
export { resolveName, resolveTool, type ToolResolution } from './call/find-tool.ts'
export { decideRetry, type FailureKind, type RetrySettings } from './call/attempts.ts'
export { type SavedFile, type SavePlace, saveContent, saveText } from './call/content.ts'
export { createSchemaChecker, type SchemaChecker } from './call/schema-checker.ts'
export { stepCaller } from './call/call-tool.ts'
export { suggestTools, toolNotFound, type ToolRanking } from './call/find-tool.ts'
export { summarise, summariseValue, type Summary } from './call/summarise.ts'
export { type RequestMeaning, understandRequest } from './call/do-request.ts'
export { gatedCall, requireTrusted, workflowGate, type WorkflowGateOptions } from './call/gate.ts'
export type {
  ServerClient,
  ServerConfiguration,
  ServerDefinition,
  ServerFile,
  ServerSource,
  ServerTransport,
  ShadowedServer,
} from './config/model.ts'
export { acceptingHint } from './config/file-trust.ts'
export { readServerConfiguration, type ReadServersOptions } from './config/read-configuration.ts'
export { ToolCallError, ToolError } from './errors.ts'
export type {
  CallFailure,
  JsonObject,
  ToolAnnotations,
  ToolCallOptions,
  ToolContent,
  ToolDefinition,
  ToolOutcome,
  ToolProgress,
  ToolServer,
  ToolSummary,
} from './model.ts'
export {
  mapParameters,
  type MappedValue,
  type ParameterMapping,
} from './parameters/map-parameters.ts'
export {
  bindParams,
  type PlannedCall,
  planRequest,
  type PlanWorld,
  type RequestPlan,
} from './parameters/plan-request.ts'
export { findSlots, type Slot, type SlotKind } from './parameters/slots.ts'
export { configuredEmbedding, type ConfiguredEmbedding } from './route/configured-embedding.ts'
export type { Embedding, EmbedOptions } from './route/embedding.ts'
export { type EndpointOptions, openEndpointEmbedding } from './route/endpoint-embedding.ts'
export { openLocalEmbedding } from './route/local-embedding.ts'
export { meaningOf } from './route/meaning.ts'
export { cachedEmbedding } from './route/cached-embedding.ts'
export { type LearnedExample, type Lesson, weightOf } from './route/learned-example.ts'
export {
  forgetExamples,
  learnedPath,
  type LearnedReading,
  learnExample,
  readLearned,
} from './route/learned-store.ts'
export {
  heldTools,
  keepRouting,
  type ProjectRouting,
  readRouting,
} from './route/project-routing.ts'
export { projectRouter, type ProjectRouter } from './route/project-router.ts'
export type {
  Candidate,
  CandidateExplanation,
  PartKind,
  Route,
  RouteExample,
  RouteExplanation,
  ScorePart,
} from './route/route.ts'
export {
  prepareRouter,
  type RouteOptions,
  type Router,
  type RouterOptions,
} from './route/router.ts'
export {
  isUnreadable,
  NoServersError,
  ServerNotFoundError,
  ServerNotTrustedError,
  ServersNotTrustedError,
  ServerStartError,
  ToolNotAllowedError,
} from './server/errors.ts'
export {
  openServers,
  type OpenServersOptions,
  type ServerEvent,
  type ServerListFailure,
  type ServerPool,
  type ToolListing,
} from './server/pool.ts'
export { openLiveServers } from './server/project-servers.ts'
export {
  openProjectServers,
  type ProjectServers,
  type ProjectServersOptions,
} from './server/project-servers.ts'
export {
  serveProject,
  type ServedProject,
  type ServeProjectOptions,
} from './server/serve-project.ts'
export {
  type ServedStatus,
  servedStatus,
  stopServed,
  type StopResult,
} from './server/served-process.ts'
export { refuse as refuseServer } from './server/pool.ts'
export { isUntrusted, remarksOn, requireServers, unaskedServers } from './server/errors.ts'
export { refuseWithoutGone } from './call/gate.ts'
export { type GoneWorkflows, type WorkflowTrust, workflowTrust } from './call/gate.ts'
export { projectGate } from './call/gate.ts'
