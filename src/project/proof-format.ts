import type * as Zod from 'zod'
import { tooDeepAt } from '#core/json'
import { readRegularFile } from '#core/read-files'
import { zod } from '#core/zod'

/** The type of an in-toto Statement, and of the predicate that docs/proof.md describes. */
export const statementType = 'https://in-toto.io/Statement/v1'
export const predicateType = 'https://github.com/skillrail/skillrail/proof/v1'

/** What a run did, for somebody who was not there. */
export type Proof = Zod.infer<ReturnType<typeof proofSchema>>
export type ProvenStep = Proof['predicate']['steps'][number]
export type ProvenApproval = Proof['predicate']['approvals'][number]

export type ProofReading =
  | { ok: true; proof: Proof; text: string; signature: string | undefined }
  | { ok: false; message: string }

/** Where the signature of a proof is stored. */
export function signaturePath(file: string): string {
  return `${file}.sig`
}

/** A proof has no results and no output, so a larger file is none. */
const maxBytes = 4 * 1024 * 1024
const maxSignatureBytes = 64 * 1024

/** Reads a proof that anybody may have written. The size is checked before anything is read. */
export function readProof(file: string): ProofReading {
  const reading = readRegularFile(file, { maxBytes, keepMark: true })
  if (!reading.ok) return { ok: false, message: reading.message }
  const { text } = reading
  const problem = problemOf(text)
  if (problem !== undefined) return { ok: false, message: `${file} ${problem}` }
  const checked = proofSchema().safeParse(JSON.parse(text))
  if (!checked.success) {
    const [issue] = checked.error.issues
    const place = issue?.path.join('.') ?? ''
    return { ok: false, message: `${file} is not a proof: ${place}: ${issue?.message ?? ''}` }
  }
  const path = signaturePath(file)
  const signature = readRegularFile(path, { maxBytes: maxSignatureBytes })
  if (signature.ok) return { ok: true, proof: checked.data, text, signature: signature.text }
  if (signature.code !== 'file-missing') return { ok: false, message: signature.message }
  return { ok: true, proof: checked.data, text, signature: undefined }
}

/** Why a text is not one JSON document with one meaning. */
function problemOf(text: string): string | undefined {
  if (tooDeepAt(text) !== undefined) return 'is nested too deeply'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not JSON, or was cut off'
  }
  // If a key occurs twice, the value lacks one of both.
  const withoutBlanks = text.replaceAll(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, '$1')
  if (withoutBlanks === JSON.stringify(value)) return undefined
  return 'has a key twice, or is not written as Skillrail writes it'
}

let schema: ReturnType<typeof makeSchema> | undefined

function proofSchema() {
  schema ??= makeSchema(zod())
  return schema
}

/** Every member must be known: a reader that ignores one could miss a restriction. */
function makeSchema(z: typeof Zod) {
  const text = z.string()
  const time = text.refine((value) => !Number.isNaN(Date.parse(value)), 'it is not a time')
  const digest = text.regex(/^sha256:[0-9a-f]{64}$/, 'it is not a digest')
  const object = text.regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, "it is not one of Git's IDs")
  const step = z.strictObject({
    /** Its full name in the plan. */
    step: text,
    skill: text,
    path: text,
    /** Of the skill's `SKILL.md` and scripts. */
    digest: z.union([digest, z.literal('')]),
    kind: z.enum(['script', 'instructions', 'chain', 'missing']),
    status: text,
    evidence: z.enum(['exit-code', 'verified', 'accepted', 'self-reported']).nullable(),
    /** What the step's gate asks for; null without a gate. */
    gate: z.enum(['prompted', 'attended', 'signed']).nullable(),
    /** The command of `check`, and the path of `scripts/verify` in the skill. */
    check: text.nullable(),
    verify: text.nullable(),
    /** Files of the check that changed while the rail ran. */
    checkFilesChanged: z.array(text),
    /** Digest of status, result, errors, metrics and artifacts, with secrets masked; null without an output. */
    output: digest.nullable(),
    /** The working tree when the step succeeded; null if it was not read. Absent in older proofs. */
    tree: object.nullable().optional(),
    /** It was left out by `--from` or `--only`. */
    excluded: z.boolean(),
    /** Its failure does not count. */
    allowFailure: z.boolean(),
    /** The result comes from another run, as after `runs retry`. */
    reused: z.boolean(),
    startedAt: time.nullable(),
    durationMs: z.number().nullable(),
  })
  const approval = z.strictObject({
    run: text,
    step: text,
    attempt: z.number(),
    approved: z.boolean(),
    /** `option`: the run was started with `--yes-gates`. */
    channel: text,
    strength: z.enum(['unknown', 'prompted', 'attended', 'signed']),
    user: text.nullable(),
    at: time,
    plan: digest,
    results: digest,
    /** Of the text that the user saw. */
    shown: digest.nullable(),
    signature: z.strictObject({ text, signer: text }).nullable(),
  })
  const predicate = z.strictObject({
    run: z.strictObject({
      id: text.regex(/^[0-9a-z]{1,40}$/, 'it is not a run ID'),
      mode: z.enum(['run', 'stepper']),
      status: text,
      startedAt: time,
      endedAt: time,
      user: text.nullable(),
      arguments: z.array(text),
      requireVerified: z.boolean(),
      /** The chain was changed during the run, and a user continued it. */
      chainChanged: z.boolean(),
    }),
    repository: z.strictObject({
      commit: object,
      tree: object,
      uncommitted: z.strictObject({ count: z.number().min(0), paths: z.array(text) }),
    }),
    chain: z.strictObject({
      name: text,
      /** Its directory in the repository. */
      directory: text,
      /** Of what its files declare, the same on every machine. */
      digest,
      /** Of the plan in the journal, which approvals are about. */
      plan: digest,
    }),
    steps: z.array(step).min(1),
    approvals: z.array(approval),
    versions: z.strictObject({
      skillrail: text,
      client: z.strictObject({ name: text, version: text.nullable() }).nullable(),
    }),
  })
  return z.strictObject({
    _type: z.literal(statementType),
    subject: z.tuple([z.strictObject({ name: text, digest: z.strictObject({ gitTree: object }) })]),
    predicateType: z.literal(predicateType),
    predicate,
  })
}
