import { expect, it } from 'vitest'
import { hookCommands, hooksText, windowsLauncher } from '../../src/hooks/registration.ts'
import type { Platform } from '../../src/hooks/adapters.ts'

// Nothing here runs on Windows: these are the texts that would.

const home = "C:\\Users\\Ann O'Neil"
const windows = { env: {}, home, cwd: home, platform: 'win32' } as const

const commands: [Platform, string][] = [
  ['claude', "'C:/Users/Ann O'\\''Neil/.local/share/skillrail/hook/skillrail-hook.cmd' claude"],
  ['codex', '"C:\\Users\\Ann O\'Neil\\.local\\share\\skillrail\\hook\\skillrail-hook.cmd" codex'],
  ['qwen', '"C:\\Users\\Ann O\'Neil\\.local\\share\\skillrail\\hook\\skillrail-hook.cmd" qwen'],
  [
    'gemini',
    "& 'C:\\Users\\Ann O''Neil\\.local\\share\\skillrail\\hook\\skillrail-hook.cmd' gemini",
  ],
  [
    'copilot',
    "& 'C:\\Users\\Ann O''Neil\\.local\\share\\skillrail\\hook\\skillrail-hook.cmd' copilot",
  ],
]

it.each(commands)(
  'quotes a path with blanks for the shell that %s has on Windows',
  (platform, command) => {
    expect(hookCommands(windows, platform, 'user', 1)).toEqual([command])
  },
)

it('numbers the parts on Windows too', () => {
  const found = hookCommands({ ...windows, home: 'C:\\Users\\ann' }, 'claude', 'user', 2)
  expect(found).toEqual([
    'C:/Users/ann/.local/share/skillrail/hook/skillrail-hook.cmd claude 1/2',
    'C:/Users/ann/.local/share/skillrail/hook/skillrail-hook.cmd claude 2/2',
  ])
})

const launcher = windowsLauncher({
  node: 'C:\\Program Files (x86)\\100% node\\node.exe',
  entry: '0123/dist/hook/hook.cjs',
})

it('writes every line of the launcher in the syntax of batch files', () => {
  expect(launcher.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  expect(launcher.endsWith('\r\n')).toBe(true)
  expect(launcher).toMatch(/^@echo off\r\n/)
  expect(Buffer.from(launcher).toString('latin1')).toBe(launcher)
})

it('keeps percent signs and brackets of a path from being read as batch', () => {
  expect(launcher).toContain('set "PROGRAM=C:\\Program Files (x86)\\100%% node\\node.exe"\r\n')
  // A bracket of a path would end a block: paths stand in lines of their own.
  const blocks = launcher.match(/\(\r\n[^]*?\r\n\)/g) ?? []
  expect(blocks).toEqual(['(\r\n  set "PROGRAM=%%n"\r\n  goto run\r\n)'])
})

it('finds the hook beside itself, and Node never in the current directory', () => {
  expect(launcher).toContain('set "ENTRY=%~dp00123\\dist\\hook\\hook.cjs"\r\n')
  expect(launcher).toContain('where.exe "$PATH:node.exe"')
  expect(launcher).not.toMatch(/^(?:call )?node\b/m)
})

it('jumps only to existing labels, and ends with 0 from everywhere', () => {
  const lines = launcher.split('\r\n')
  const jumps = [...launcher.matchAll(/goto (\w+)/g)].map(([, label]) => `:${label}`)
  expect(jumps).toHaveLength(4)
  for (const label of jumps) expect(lines).toContain(label)
  expect(lines.filter((line) => line.startsWith('exit'))).toEqual(['exit /b 0', 'exit /b 0'])
  expect(lines.at(-2)).toBe('exit /b 0')
  expect(lines[lines.indexOf(':run') - 1]).toBe('exit /b 0')
})

it('registers a command that PowerShell can run, with no program from the project', () => {
  const [handler] = JSON.parse(hooksText("& 'C:\\a b\\x.cmd' copilot")).hooks.userPromptSubmitted
  expect(handler.powershell).toBe("& 'C:\\a b\\x.cmd' copilot")
  const [project = ''] = hookCommands(windows, 'copilot', 'project', 1)
  const [shared] = JSON.parse(hooksText(project)).hooks.userPromptSubmitted
  expect(shared).toMatchObject({ bash: project, powershell: '$input | Out-Null' })
})
