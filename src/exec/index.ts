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
export { agentPrompt, type AgentPromptParts, statePart } from './agent-prompt.ts'
export { type AgentRequest, type AgentResult, runAgent } from './agent-run.ts'
export { type CapturedOutput, capturedText } from './capture.ts'
export { childEnvironment } from './environment.ts'
export {
  findScript,
  findScripts,
  findVerifyScript,
  type Script,
  type ScriptSearch,
} from './find-script.ts'
export { type KeptProcess, type KeptProcessRequest, startKeptProcess } from './kept-process.ts'
export { type Launcher, openLauncher } from './launcher.ts'
export {
  type Evidence,
  failedOutput,
  type ReportedError,
  type StepOutput,
  type StepStatus,
} from './model.ts'
export { type OutputSource, parseOutput, readOutput } from './output-protocol.ts'
export { endOrphans, verificationKey } from './orphans.ts'
export {
  type ProcessEnd,
  type ProcessRequest,
  type ProcessResult,
  type RunProcess,
  runProcess,
} from './process.ts'
export { runScript, type ScriptRequest, type ScriptResult } from './script.ts'
export { SandboxMissingError } from './sandbox/errors.ts'
export { type GrantProblem, type Grants, noGrants, parseGrants } from './sandbox/grants.ts'
export type { Places, Sandbox, SandboxProbe, SandboxRequest } from './sandbox/model.ts'
export { openSandbox } from './sandbox/open-sandbox.ts'
export { type Confinement, type ConfinedScript, runConfined } from './sandbox/run-confined.ts'
export { whatIsMissing } from './what-is-missing.ts'
