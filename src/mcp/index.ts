export { servedSkillNames } from './extension/served-skills.ts'
export { offeredTools } from './offer.ts'
export { listPrompts } from './prompts.ts'
export { plainJson } from './plain-json.ts'
export { newToken, type ServedHttp, serveHttp } from './serve-http.ts'
export { serveStdio } from './serve-stdio.ts'
export type {
  CallSurroundings,
  ChainAnswer,
  ChainReport,
  ChainStart,
  ChainSurroundings,
  ChainWorld,
  McpWorld,
  OpenCalls,
  ReferenceAnswer,
  ScriptRun,
  ToolWorld,
} from './world.ts'
