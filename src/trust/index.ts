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
export { agentDirectories, agentFilesIn, type AgentFiles } from './project-files.ts'
export { type AgentSubject, agentTrust } from './skill-trust.ts'
export { assessWorkspace } from './skill-trust.ts'
export { collectActingParts, collectSkillParts } from './acting-parts.ts'
export { mayShadow } from './decide.ts'
export { SkillNotTrustedError, WorkspaceNotTrustedError } from './decide.ts'
export { hookProgram } from './acting-parts.ts'
export {
  type InstalledReading,
  type InstalledState,
  installedStates,
  readInstalledLock,
  readUserInstalledLock,
  userSkillDirectory,
} from './installed-lock.ts'
export type { CurrentSkill, LockChange, LockFileChange, LockReading } from './lock.ts'
export { type LockStore, openLockStore } from './lock-store.ts'
export {
  currentSkills,
  lockAbove,
  lockDrift,
  lockReadOnce,
  type NearestLock,
  readLock,
} from './lock.ts'
export { lockedTrust } from './skill-trust.ts'
export { readTrustPolicy, type TrustPolicyOptions, type TrustPolicyReading } from './decide.ts'
export { confirmTrust, requireTrusted, skillTrust, trustRefusal } from './skill-trust.ts'
export { openTrustStore, type TrustReading, type TrustStore } from './store.ts'
export { findWorkspace } from './decide.ts'
