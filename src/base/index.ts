export { type AtomicWriteOptions, writeFileAtomic, writeFileAtomicSync } from './atomic-write.ts'
export {
  type ConfigurationReading,
  loadConfiguration,
  type LoadConfigurationOptions,
} from './configuration.ts'
export {
  compareDiagnostics,
  compareText,
  type Diagnostic,
  hasErrors,
  type Severity,
} from './diagnostic.ts'
export { digestOf, openSha256, sha256 } from './digest.ts'
export {
  messageOf,
  SkillrailError,
  type SkillrailErrorFacts,
  StateFileError,
  systemCode,
  UsageError,
} from './errors.ts'
export { exitCode, type ExitCode } from './exit-code.ts'
export {
  acquireFileLock,
  type LockAttempt,
  lockHolder,
  type LockOptions,
  withFileLock,
} from './file-lock.ts'
export { isInside, type InsideResolution, realRootOf, resolveInside } from './inside.ts'
export {
  type JournalReading,
  type JournalRecord,
  type JournalWriter,
  openJournal,
  readJournal,
} from './journal-file.ts'
export { type IdleTimer, idleTimer } from './local-server/idle-timer.ts'
export {
  type LocalRoute,
  type LocalServer,
  openLocalServer,
} from './local-server/open-local-server.ts'
export { pageRoute } from './local-server/page-route.ts'
export { deepestJson, tooDeepAt } from './json-depth.ts'
export { lookProblem, reasonOf, systemReason } from './look-problem.ts'
export { nearest } from './nearest.ts'
export { foldersOutsideSkill, isLeftBehind, outsideSkill } from './outside-skill.ts'
export { makeDirectory } from './make-directory.ts'
export { makePrivateDirectory } from './private-directory.ts'
export { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts'
export { fileIdentity } from './file-identity.ts'
export { type FileReading, type FileReadingCode, readRegularFile } from './read-regular-file.ts'
export { findSecrets, isSecretKey, redactText, redactValue, type SecretPlace } from './redact.ts'
export { type Runtime, systemRuntime } from './runtime.ts'
export { safeLine, safeText } from './safe-text.ts'
export { shellWord } from './shell-word.ts'
export { sarifLog, type SarifLog, type SarifRule, type SarifTool } from './sarif.ts'
export { type Setting, type Settings, settingTable } from './settings.ts'
export { columnsOf, cutToColumns, padToColumns } from './text-columns.ts'
export { placesIn, type TextPlaces } from './text-places.ts'
export { untilAborted } from './until-aborted.ts'
export { type UserDirectories, userDirectories } from './user-directories.ts'
export { isObject } from './is-object.ts'
export { withoutEnd, withoutLastWord } from './without-end.ts'
