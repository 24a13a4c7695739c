import { describe, expect, it } from 'vitest'
import { isCommandFile, shimTarget } from '../../src/exec/agent-clients.ts'

const head = String.raw`@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0
`

const npmNode = (target: string): string =>
  `${head}
IF EXIST "%dp0%\\node.exe" (
  SET "_prog=%dp0%\\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\${target}" %*
`.replaceAll('\n', '\r\n')

const npmProgram = (target: string): string => `${head}"%dp0%\\${target}"   %*\r\n`

const pnpmNode = (target: string): string => `@SETLOCAL
@IF EXIST "%~dp0\\node.exe" (
  "%~dp0\\node.exe"  "%~dp0\\${target}" %*
) ELSE (
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\\${target}" %*
)
`

const shim = String.raw`C:\Users\me\AppData\Roaming\npm\claude.cmd`
const node = String.raw`C:\Program Files\nodejs\node.exe`
const npm = String.raw`C:\Users\me\AppData\Roaming\npm`

// The texts follow what npm's cmd-shim 7 and pnpm's write; none of it was run on Windows.
describe('a command file of Windows', () => {
  it.each([
    [
      'of npm for a script',
      npmNode(String.raw`node_modules\@anthropic-ai\claude-code\cli.js`),
      { file: node, args: [String.raw`${npm}\node_modules\@anthropic-ai\claude-code\cli.js`] },
    ],
    [
      'of npm for a script without an extension',
      npmNode(String.raw`node_modules\opencode-ai\bin\opencode`),
      { file: node, args: [String.raw`${npm}\node_modules\opencode-ai\bin\opencode`] },
    ],
    [
      'of npm for a program',
      npmProgram(String.raw`node_modules\@anthropic-ai\claude-code\bin\claude.exe`),
      {
        file: String.raw`${npm}\node_modules\@anthropic-ai\claude-code\bin\claude.exe`,
        args: [],
      },
    ],
    [
      'of pnpm, which leads upwards',
      pnpmNode(String.raw`..\global\5\node_modules\@openai\codex\bin\codex.mjs`),
      {
        file: node,
        args: [
          String.raw`C:\Users\me\AppData\Roaming\global\5\node_modules\@openai\codex\bin\codex.mjs`,
        ],
      },
    ],
    ['by hand', '@echo off\r\npython "%~dp0\\tool.py" %*\r\n', undefined],
    ['with another variable in the path', '"%dp0%\\%NAME%.js" %*', undefined],
    ['for a shell script', npmProgram(String.raw`node_modules\tool\run.sh`), undefined],
    ['that passes only one argument on', '"%dp0%\\a.exe" %1', undefined],
    ['that is empty', '', undefined],
  ])('is read %s', (_form, text, target) => {
    expect(shimTarget(shim, text, node)).toEqual(target)
  })

  it.each([
    ['claude.cmd', true],
    ['CLAUDE.CMD', true],
    ['x.bat', true],
    ['claude.exe', false],
    ['/usr/bin/claude', false],
    ['cmd', false],
  ])('is recognised by its name: %s', (path, expected) => {
    expect(isCommandFile(path)).toBe(expected)
  })
})
