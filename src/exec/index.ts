export {
  type AgentCli,
  agentClis,
  type AgentCliName,
  type AgentWishes,
  isAgentCli,
  networkVariables,
  type SkillRequest,
  skillRequests,
} from './agent-clients.ts'
export { agentPrompt, type AgentPromptParts, statePart } from './agent-clients.ts'
export { type AgentRequest, type AgentResult, runAgent } from './agent-clients.ts'
export { type CapturedOutput, capturedText } from './process.ts'
export { childEnvironment } from './script.ts'
export {
  findScript,
  findScripts,
  findVerifyScript,
  type Script,
  type ScriptSearch,
} from './find-script.ts'
export { type KeptProcess, type KeptProcessRequest, startKeptProcess } from './kept-process.ts'
export {
  type Evidence,
  failedOutput,
  type ReportedError,
  type StepOutput,
  type StepStatus,
} from './output-protocol.ts'
export { type OutputSource, parseOutput, readOutput } from './output-protocol.ts'
export { endOrphans, verificationKey } from './process-group.ts'
export {
  type ProcessEnd,
  type ProcessRequest,
  type ProcessResult,
  type RunProcess,
  runProcess,
} from './process.ts'
export { runScript, type ScriptRequest, type ScriptResult } from './script.ts'
export { SandboxMissingError } from './sandbox/grants.ts'
export { type GrantProblem, type Grants, noGrants, parseGrants } from './sandbox/grants.ts'
export type { Places, Sandbox, SandboxProbe, SandboxRequest } from './sandbox/sandbox.ts'
export { openSandbox } from './sandbox/open-sandbox.ts'
export { type Confinement, type ConfinedScript, runConfined } from './sandbox/open-sandbox.ts'
export { whatIsMissing } from './process.ts'
