export { type AtomicWriteOptions, writeFileAtomic, writeFileAtomicSync } from './write-files.ts'
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
export { cachePath, readCache, writeCache } from './derived-cache.ts'
export { digestOf, openSha256, sha256 } from './json.ts'
export {
  messageOf,
  SkillrailError,
  type SkillrailErrorFacts,
  StateFileError,
  systemCode,
  UsageError,
} from './errors.ts'
export { exitCode, type ExitCode } from './errors.ts'
export {
  acquireFileLock,
  type LockAttempt,
  lockHolder,
  type LockOptions,
  withFileLock,
} from './file-lock.ts'
export { isInside, type InsideResolution, realRootOf, resolveInside } from './read-files.ts'
export {
  type JournalReading,
  type JournalRecord,
  type JournalWriter,
  openJournal,
  readJournal,
} from './journal-file.ts'
export { type IdleTimer, idleTimer } from './local-server.ts'
export { type LocalRoute, type LocalServer, openLocalServer } from './local-server.ts'
export { pageRoute } from './local-server.ts'
export { deepestJson, tooDeepAt } from './json.ts'
export { lookProblem, reasonOf, systemReason } from './errors.ts'
export { nearest } from './text.ts'
export { foldersOutsideSkill, isLeftBehind, outsideSkill } from './read-files.ts'
export { makeDirectory } from './write-files.ts'
export { makePrivateDirectory } from './write-files.ts'
export { isAlive, ownIdentity, type ProcessIdentity } from './file-lock.ts'
export { fileIdentity, realPathOf } from './read-files.ts'
export { type FileReading, type FileReadingCode, readRegularFile } from './read-files.ts'
export { findSecrets, isSecretKey, redactText, redactValue, type SecretPlace } from './redact.ts'
export { type Runtime, systemRuntime } from './runtime.ts'
export { safeLine, safeText } from './text.ts'
export { shellWord } from './text.ts'
export { sarifLog, type SarifLog, type SarifRule, type SarifTool } from './sarif.ts'
export { type Setting, type Settings, settingTable, variableOf } from './settings.ts'
export { columnsOf, cutToColumns, padToColumns } from './text.ts'
export { placesIn, type TextPlaces } from './text.ts'
export { untilAborted } from './runtime.ts'
export { type UserDirectories, userDirectories } from './runtime.ts'
export { isObject } from './json.ts'
export { withoutEnd, withoutLastWord } from './text.ts'
