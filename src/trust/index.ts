export type {
  Acceptance,
  AcceptedPart,
  ActingKind,
  ActingPart,
  ActingSkill,
  PartChange,
  SkillScope,
  TrustLevel,
  TrustPolicy,
  TrustReason,
  TrustSubject,
  TrustVerdict,
  WorkspaceAssessment,
  WorkspaceTrust,
} from './model.ts'
export { agentDirectories, agentFilesIn, type AgentFiles } from './agent-places.ts'
export { type AgentSubject, agentTrust } from './agent-trust.ts'
export { assessWorkspace } from './assess.ts'
export { collectActingParts, collectSkillParts } from './collect.ts'
export { mayShadow } from './decide.ts'
export { SkillNotTrustedError, WorkspaceNotTrustedError } from './errors.ts'
export { hookProgram } from './hook-program.ts'
export {
  type InstalledReading,
  type InstalledState,
  installedStates,
  readInstalledLock,
  readUserInstalledLock,
  userSkillDirectory,
} from './installed-lock.ts'
export type { CurrentSkill, LockChange, LockFileChange, LockReading } from './lock-model.ts'
export { type LockStore, openLockStore } from './lock-store.ts'
export {
  currentSkills,
  lockAbove,
  lockDrift,
  lockReadOnce,
  type NearestLock,
  readLock,
} from './lock.ts'
export { lockedTrust } from './locked-trust.ts'
export { readTrustPolicy, type TrustPolicyOptions, type TrustPolicyReading } from './policy.ts'
export { confirmTrust, requireTrusted, skillTrust, trustRefusal } from './skill-trust.ts'
export { openTrustStore, type TrustReading, type TrustStore } from './store.ts'
export { findWorkspace } from './workspace.ts'
