import type { Diagnostic } from '../base/index.ts'
import type { SkillRequest } from '../exec/index.ts'
import type { ChainDeclaration } from '../skill/index.ts'
import type { TrustLevel } from '../trust/index.ts'

/** Where planning learns about skills. The plan is a pure function of its answers. */
export interface ChainLookup {
  /** The directory of the skill that a chain calls by this name. */
  resolve(chainDirectory: string, name: string): StepResolution
  /** The skill in a directory; undefined `facts` where it cannot be read. */
  load(directory: string): SkillReport
}

export type StepResolution =
  | { ok: true; directory: string }
  | { ok: false; code: string; message: string; hint?: string | undefined }

export interface SkillReport {
  facts: SkillFacts | undefined
  diagnostics: readonly Diagnostic[]
}

/** What a plan says of a skill. */
export interface SkillFacts {
  name: string
  /** Real path of the directory. */
  directory: string
  /** As {@link PlannedSkill.path}. */
  path: string
  chain: ChainDeclaration | undefined
  /** What is odd about it, though it can run: something that it says goes unheeded. */
  warnings?: readonly Diagnostic[] | undefined
  /** Path of its script below the directory. */
  script: string | undefined
  verify: string | undefined
  /** It was to be a script or a chain and cannot be; an error of its report says why. */
  broken?: true | undefined
  /** An error of its report says that names of its chain lead elsewhere. */
  refusedNames?: true | undefined
  /** It asks for a sandbox although it may be trusted. */
  sandbox?: true | undefined
  /** As {@link PlannedSkill.personOnly}. */
  personOnly?: true | undefined
  digest: string
  tokens: number
  /** What its fields ask of whoever executes it. */
  requests: readonly SkillRequest[]
  trust: { level: TrustLevel; reason: string; hint?: string | undefined }
}
