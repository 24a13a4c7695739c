export type { HookAdapter, Registration } from './adapters.ts'
export { adapters } from './adapters.ts'
export type { ContextLimit } from './context.ts'
export type { HookScope } from './registration.ts'
export { type FileChange, installHook, type InstallOptions } from './install.ts'
export { isPlatform, type Platform, platforms } from './adapters.ts'
export { uninstallHook } from './install.ts'
export {
  bestRun,
  type HooksStatus,
  hooksStatus,
  installedPlatforms,
  type PlatformStatus,
  type Registered,
  type StatusOptions,
} from './status.ts'
export type { FolderTrust } from './folder-trust.ts'
export type { WillRun } from './will-run.ts'
export { probeHook, type ProbeResult } from './status.ts'
export { type HookTrace, readTraces } from './trace.ts'
export { type HookAnswer, type HookRequest, runHook } from './run-hook.ts'
