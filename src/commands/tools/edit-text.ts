import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf, SkillrailError, UsageError } from '#core/errors'
import { findProgram } from '#core/find-program'
import type { ToolContext } from '#tools/project-tools'

export const editedFile = 'workflow.json'

/**
 * Lets a user edit a text. A text that `accept` refuses stays in a file, which the error names.
 * Throws {@link UsageError} in a non-interactive shell without VISUAL or EDITOR.
 */
export async function editText<T>(
  context: Pick<ToolContext, 'runtime' | 'interactive'>,
  text: string,
  accept: (text: string) => T,
): Promise<T> {
  const editor = editorOf(context)
  const path = join(mkdtempSync(join(tmpdir(), 'skillrail-')), editedFile)
  const fileNote = `Your text is in ${path}.`
  writeFileSync(path, text, { mode: 0o600 })
  await open(editor, path, fileNote, context.runtime)
  try {
    const accepted = accept(readFileSync(path, 'utf8'))
    rmSync(dirname(path), { recursive: true })
    return accepted
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    const { code, message, diagnostics, hint } = error
    const more = hint === undefined ? fileNote : `${hint} ${fileNote}`
    throw new UsageError({ code, message, diagnostics, hint: more, cause: error })
  }
}

function editorOf({ runtime, interactive }: Parameters<typeof editText>[0]) {
  const named = runtime.env['VISUAL'] || runtime.env['EDITOR']
  if (named) return named
  if (!interactive) {
    throw new UsageError({
      code: 'no-terminal',
      message: 'there is no terminal to open an editor at',
      hint: 'Give a file with the definition, or set EDITOR.',
    })
  }
  return runtime.platform === 'win32' ? 'notepad' : 'vi'
}

async function open(editor: string, path: string, hint: string, runtime: ToolContext['runtime']) {
  const [name = '', ...args] = editor.trim().split(/\s+/)
  const file = /[/\\]/.test(name) ? name : findProgram(name, runtime)
  if (file === undefined) {
    throw new UsageError({
      code: 'editor-failed',
      message: `there is no editor ${name} on the search path outside of the project`,
      hint: `Set EDITOR to a program that exists. ${hint}`,
    })
  }
  const child = spawn(file, [...args, path], { stdio: 'inherit' })
  let code: number | null
  try {
    ;[code] = await once(child, 'close')
  } catch (error) {
    throw new UsageError({
      code: 'editor-failed',
      message: `the editor ${file} cannot be started: ${messageOf(error)}`,
      hint: 'Set EDITOR to a program that exists.',
    })
  }
  if (code === 0) return
  const message = `the editor ${file} ended with ${code ?? 'a signal'}; nothing was written`
  throw new SkillrailError({ code: 'editor-failed', message, hint })
}
