import type { ApprovalRecord, GateRecord } from '#chain/run-journal'
import {
  allowedSigners,
  refusal,
  signersHint,
  type SigningPlace,
  signerBy,
  signText,
} from './ssh-signatures.ts'

export type Signature = NonNullable<ApprovalRecord['signature']>

/** The parts of a gate that an approval of it is about. */
type ApprovedGate = Pick<GateRecord, 'step' | 'attempt' | 'planDigest' | 'stateDigest'>

/** What is signed: the decision about one step of one run, with what was decided on. */
export function statementOf(
  runId: string,
  { step, attempt, planDigest, stateDigest }: ApprovedGate,
  at: string,
): string {
  const about = { run: runId, step, attempt, plan: planDigest, results: stateDigest, at }
  return `${JSON.stringify({ type: 'skillrail-approval', version: 1, ...about })}\n`
}

export const approvalNamespace = 'skillrail-approval'

/**
 * Signs an approval with the user's key, and verifies it as {@link signerOf} does later.
 *
 * @throws {ApprovalRefusedError} if there is no key, nobody touched it, or the user's list does not have it
 */
export function signApproval(place: SigningPlace, statement: string): Signature {
  const text = signText(place, approvalNamespace, statement)
  const signer = signerOf(place, statement, text)
  if (signer !== undefined) return { text, signer }
  const path = allowedSigners(place)
  throw refusal(
    'signer-not-allowed',
    path === undefined
      ? 'there is no list of allowed signers that counts'
      : `the key that signed is not in the list of allowed signers (${path})`,
    path === undefined ? signersHint(place) : 'Add its public key: NAME ssh-ed25519 KEY',
  )
}

/** Whose signature of a statement this is, by the user's list; undefined if that list does not say. */
export function signerOf(
  place: SigningPlace,
  statement: string,
  signature: string,
): string | undefined {
  const signers = allowedSigners(place)
  if (signers === undefined) return undefined
  const about = { namespace: approvalNamespace, text: statement, signature, signers } as const
  return signerBy(place.runtime, about)
}
