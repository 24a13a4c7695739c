import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Context } from '#core/command'
import { findProgram } from '#core/find-program'
import { isInProject, type Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { ApprovalRefusedError } from '#chain/errors'

// `ssh-keygen -Y` signs and verifies, as Git does with keys of SSH: the key may be on a security key that
// wants to be touched, or have a passphrase that nothing keeps.

export type SigningPlace = Pick<Context, 'runtime' | 'settings'>

/** Keeps a signature from counting for anything else, and those of other programs from counting here. */
export type SignatureNamespace = 'skillrail-approval' | 'skillrail-proof'

/**
 * Signs a text with the user's key, and returns the signature.
 *
 * @throws {ApprovalRefusedError} if there is no key, or nobody touched it
 */
export function signText(place: SigningPlace, namespace: SignatureNamespace, text: string): string {
  const { runtime } = place
  const program = keygen(runtime)
  const key = signingKey(place)
  const signed = withFiles({ key: key.text }, (files) =>
    spawnSync(
      program,
      ['-Y', 'sign', '-n', namespace, ...key.options, '-f', key.path ?? files.key],
      {
        input: text,
        encoding: 'utf8',
        env: { ...runtime.env },
        // It asks for a passphrase, or for a touch, at the terminal.
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    ),
  )
  if (signed.status === 0) return signed.stdout
  const subject = namespace === 'skillrail-proof' ? 'proof' : 'approval'
  const message = `the ${subject} was not signed: ssh-keygen ended with ${signed.status ?? signed.signal}`
  throw refusal(`${subject}-not-signed`, message, 'Its message is above.')
}

/** What a signature is about, and who may have made it. */
export interface SignatureCheck {
  namespace: SignatureNamespace
  text: string
  signature: string
  /** The file with the keys that count. */
  signers: string
}

/** Returns who signed a text, by the list of allowed signers; undefined if the list does not say. */
export function signerBy(
  runtime: Runtime,
  { namespace, text, signature, signers }: SignatureCheck,
): string | undefined {
  const program = keygen(runtime)
  return withFiles({ signature }, (files) => {
    const ask = (...words: readonly string[]) =>
      spawnSync(program, ['-Y', ...words, '-f', signers, '-s', files.signature], {
        input: text,
        encoding: 'utf8',
        env: { ...runtime.env },
      })
    const principals = ask('find-principals')
      .stdout.split('\n')
      .map((line) => line.trim())
    return principals.find(
      (name) => name !== '' && ask('verify', '-n', namespace, '-I', name).status === 0,
    )
  })
}

/** Returns the key of a signature that belongs to a text, whoever has it; undefined for any other signature. */
export function signingKeyOf(
  runtime: Runtime,
  { namespace, text, signature }: Omit<SignatureCheck, 'signers'>,
): string | undefined {
  const program = keygen(runtime)
  return withFiles({ signature }, (files) => {
    const words = ['-Y', 'check-novalidate', '-n', namespace, '-s', files.signature]
    const { status, stdout } = spawnSync(program, words, {
      input: text,
      encoding: 'utf8',
      env: { ...runtime.env },
    })
    return status === 0 ? (/SHA256:\S+/.exec(stdout)?.[0] ?? 'a key') : undefined
  })
}

/** Whether Git is configured to sign with an SSH key, or a setting names one. */
export function hasSigningKey({ runtime, settings }: SigningPlace): boolean {
  if (settings.rail.signingKey !== '') return true
  return ofGit(runtime, 'gpg.format') === 'ssh' && ofGit(runtime, 'user.signingKey') !== undefined
}

/** Whether Git is configured with a key that it does not use for SSH signatures. */
export function hasKeyOfOtherFormat({ runtime, settings }: SigningPlace): boolean {
  if (settings.rail.signingKey !== '' || ofGit(runtime, 'user.signingKey') === undefined)
    return false
  return ofGit(runtime, 'gpg.format') !== 'ssh'
}

/** The user's own list. A project could bring one: such a list counts only if the user's setting names it. */
export function allowedSigners(place: SigningPlace): string | undefined {
  const { allowedSigners: named } = place.settings.rail
  if (named !== '') return isAbsolute(named) ? named : undefined
  const path = signersOfGit(place)
  return path === undefined || isInProject(path, place.runtime.cwd) ? undefined : path
}

function signersOfGit({ runtime }: SigningPlace): string | undefined {
  const path = ofGit(runtime, 'gpg.ssh.allowedSignersFile', 'path')
  return path !== undefined && isAbsolute(path) ? path : undefined
}

/** Says how a user names a list where {@link allowedSigners} finds none. */
export function signersHint(place: SigningPlace): string {
  const path = signersOfGit(place)
  if (path !== undefined && isInProject(path, place.runtime.cwd)) {
    return `The list of gpg.ssh.allowedSignersFile, ${safeLine(path)}, is in the project, which an agent can change: it counts only if your setting rail.allowedSigners names it. Or move it out of the project.`
  }
  return 'Name the list: git config --global gpg.ssh.allowedSignersFile PATH, or the setting rail.allowedSigners.'
}

interface SigningKey {
  path?: string
  /** A public key, whose other half an SSH agent has. */
  text: string
  options: readonly string[]
}

function signingKey({ settings, runtime }: SigningPlace): SigningKey {
  const named = settings.rail.signingKey || ofGit(runtime, 'user.signingKey') || ''
  const literal = /^(?:key::)?((?:ssh-|ecdsa-|sk-)\S+ \S.*)$/.exec(named)?.[1]
  if (literal !== undefined) return { text: `${literal}\n`, options: ['-U'] }
  const path = named.replace(/^~(?=\/)/, () => runtime.home || homedir())
  if (isAbsolute(path)) return { path, text: '', options: [] }
  throw refusal(
    'signing-key-missing',
    named === '' ? 'you have no key to sign with' : `${safeLine(named)} is not an SSH key`,
    'Name one: git config --global user.signingKey ~/.ssh/id_ed25519.pub, or the setting rail.signingKey.',
  )
}

/** A value of the user's or the system's configuration of Git; that of a repository does not count. */
function ofGit(runtime: Runtime, name: string, type?: 'path'): string | undefined {
  const git = findProgram('git', runtime)
  if (git === undefined) return undefined
  for (const scope of ['--global', '--system']) {
    const words = [
      'config',
      scope,
      '--includes',
      ...(type ? [`--type=${type}`] : []),
      '--get',
      name,
    ]
    const { status, stdout } = spawnSync(git, words, { encoding: 'utf8', env: { ...runtime.env } })
    if (status === 0 && stdout.trim() !== '') return stdout.trim()
  }
  return undefined
}

function keygen(runtime: Runtime): string {
  const program = findProgram('ssh-keygen', runtime)
  if (program !== undefined) return program
  const hint = 'Install OpenSSH 8.2 or newer; on Debian: apt install openssh-client'
  throw refusal('ssh-keygen-missing', 'ssh-keygen is not installed', hint)
}

/** Gives a text a file that only this account can read, for one call. */
export function withFile<T>(text: string, use: (path: string) => T): T {
  return withFiles({ text }, (files) => use(files.text))
}

/** Gives each text a file that only this account can read, for one call. */
function withFiles<Name extends string, T>(
  texts: Readonly<Record<Name, string>>,
  use: (files: Readonly<Record<Name, string>>) => T,
): T {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-sign-'))
  try {
    const files = { ...texts }
    for (const name of Object.keys(texts)) {
      const path = join(directory, name)
      writeFileSync(path, Reflect.get(texts, name), { mode: 0o600 })
      Reflect.set(files, name, path)
    }
    return use(files)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

export function refusal(code: string, message: string, hint: string): ApprovalRefusedError {
  return new ApprovalRefusedError(code, message, hint)
}
