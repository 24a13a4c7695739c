export { servedSkillNames } from './skills-extension.ts'
export { offeredTools } from './create-server.ts'
export { listPrompts } from './skill-tools.ts'
export { plainJson } from './input.ts'
export { newToken, type ServedHttp, serveHttp } from './http.ts'
export { serveStdio } from './stdio.ts'
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
