export {
  type AgentCli,
  agentClis,
  type AgentCliName,
  type AgentWishes,
  isAgentCli,
  networkVariables,
  type SkillRequest,
  skillRequests,
} from './agent-clis.ts'
export { agentPrompt, type AgentPromptParts } from './agent-prompt.ts'
export { type AgentRequest, type AgentResult, runAgent } from './agent-run.ts'
export { type CapturedOutput, capturedText } from './capture.ts'
export { childEnvironment } from './environment.ts'
export { findScript, findVerifyScript, type Script, type ScriptSearch } from './find-script.ts'
export {
  type Evidence,
  failedOutput,
  type ReportedError,
  type StepOutput,
  type StepStatus,
} from './model.ts'
export { type OutputSource, parseOutput, readOutput } from './output-protocol.ts'
export { endOrphans } from './orphans.ts'
export { type ProcessEnd, type ProcessRequest, type ProcessResult, runProcess } from './process.ts'
export { runScript, type ScriptRequest, type ScriptResult } from './script.ts'
