import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { StateFileError, systemCode } from './errors.ts'
import { parseJson } from './json.ts'
import { findWorkspace, isInside, readRegularFile, realPathOf, sharedStore } from './read-files.ts'
import { ownStateDirectory, type Runtime, type StatePlace } from './runtime.ts'
import { makePrivateDirectory } from './write-files.ts'

/** Returns the code of texts under the user's key: hexadecimal HMAC-SHA-256, 64 digits. */
export type Sealer = (...parts: readonly (string | Uint8Array)[]) => string

/**
 * Opens the key with which Skillrail recognises its files for this user: `SKILLRAIL_STATE_KEY`, or a file
 * of mode 0600 in the state directory, which is created if it is missing. A key in the project does not
 * count. The key is read when the sealer is first used, which throws {@link StateFileError} if the key
 * can be neither read nor created.
 */
export function openSealer(place: StatePlace): Sealer {
  let key: string | undefined
  return (...parts) => {
    key ??= place.runtime.env['SKILLRAIL_STATE_KEY'] || keyOf(join(ownStateDirectory(place), 'key'))
    const hmac = createHmac('sha256', key)
    for (const part of parts) hmac.update(part)
    return hmac.digest('hex')
  }
}

/** Encrypts data as JSON with the user's key (AES-256-GCM, base64). */
export function encrypt(data: unknown, code: Code): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', cipherKey(code), iv)
  const bytes = [iv, cipher.update(JSON.stringify(data)), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(bytes).toString('base64')
}

/** Decrypts a text from {@link encrypt}. Throws if the text or the key is different. */
export function decrypt(text: string, code: Code): unknown {
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(code), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  const json = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
  return parseJson(json.toString())
}

type Code = (before: string, text: string) => string

function cipherKey(code: Code): Buffer {
  return Buffer.from(code('secrets of journals', ''), 'hex')
}

const keyForm = /^[0-9a-f]{64}\n$/

function keyOf(path: string): string {
  const reading = readRegularFile(path, { maxBytes: 1024, own: true })
  if (!reading.ok && reading.code === 'file-missing') return makeKey(path)
  if (reading.ok && keyForm.test(reading.text)) return reading.text
  if (!reading.ok && reading.code === 'file-shared') throw sharedStore(reading.message)
  const reason = reading.ok ? 'it must be 64 hexadecimal digits' : reading.message
  const hint = 'Restore it. If you delete it, read old runs with: skillrail runs import FILE'
  const message = `the key ${path} is damaged: ${reason}`
  throw new StateFileError({ code: 'state-key-damaged', message, hint })
}

/** Several processes may create the key at once: the first complete one counts. */
function makeKey(path: string): string {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  makePrivateDirectory(dirname(path))
  try {
    writeFileSync(temporary, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    linkSync(temporary, path)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  return keyOf(path)
}

/** Returns the workspace of a path, which no write may leave by a link; undefined for other paths. */
export function writeLimit(
  path: string,
  runtime: Pick<Runtime, 'cwd' | 'home'>,
): string | undefined {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const cwd = realPathOf(runtime.cwd) ?? runtime.cwd
  const place = resolve(cwd, relative(runtime.cwd, resolve(runtime.cwd, path)))
  return isInside(workspace, place) ? workspace : undefined
}
