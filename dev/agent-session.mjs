// An agent in a terminal: a skill with a script, a skill that runs in a subagent, and a subagent in
// the background. To record it:
//
//   npm run pictures -- --only agent-session
//
// Everything is real but the model: a server on 127.0.0.1 that follows the script below.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRequest, toolResults } from '../test/model-server/read-request.ts'
import { startModelServer } from '../test/model-server/server.ts'

const bin = fileURLToPath(new URL('../src/cli/bin.ts', import.meta.url))
const base = mkdtempSync(join(tmpdir(), 'skillrail-session-'))
const project = join(base, 'project')
const task = 'Write the release notes of 2.1, in English and in French.'

try {
  writeProject()
  const server = await startModelServer(nextTurn)
  try {
    const where = ['--model', 'openai-compatible:small', '--base-url', `${server.url}/v1`]
    await skillrail(['list'])
    await skillrail(['agent', 'subagents', 'list'])
    await skillrail(['agent', task, ...where, '--tools', 'read'])
    const { answers, input, output } = server.counted()
    console.log(`\n# the server gave ${answers} answers: ${input} + ${output} tokens`)
  } finally {
    await server.close()
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

/** What the model does, by who asks and what it has got so far. */
function nextTurn(request) {
  const { system, messages } = readRequest(request)
  const told = JSON.stringify(messages)
  const results = toolResults(request).length
  const turns = system.includes('You translate')
    ? translator
    : told.includes('CHECK EVERY LINK')
      ? linkChecker
      : writer
  const used = messages.reduce((sum, { text }) => sum + text.length, system.length + 400)
  return { pauseMs: 25, usage: { input: Math.ceil(used / 4), output: 30 }, ...turns(results) }
}

function writer(results) {
  if (results === 0) {
    return {
      text: 'There is a skill for release notes; I will use it.',
      calls: [{ name: 'skill', input: { name: 'release-notes', arguments: '2.1' } }],
    }
  }
  if (results === 1) return { calls: [{ name: 'release-notes__changes', input: {} }] }
  if (results === 2) {
    return {
      text: 'Somebody else translates while I have the links checked.',
      calls: [
        {
          name: 'delegate',
          input: {
            agent: 'translator',
            task: 'Into French: "Orders can be cancelled. Invoices carry a number."',
            background: true,
          },
        },
        { name: 'skill', input: { name: 'check-links', arguments: 'README.md' } },
      ],
    }
  }
  if (results === 4) return { calls: [{ name: 'delegation_status', input: { wait: true } }] }
  return {
    text: '2.1\n- Orders can be cancelled.\n- Invoices carry a number.\n\n2.1 (français)\n- Les commandes peuvent être annulées.\n- Les factures portent un numéro.\n\nAll links of the README work.',
  }
}

function linkChecker(results) {
  return results === 0
    ? { calls: [{ name: 'read', input: { file_path: 'README.md' } }], delayMs: 200 }
    : { text: 'README.md has one link, and it works.' }
}

function translator() {
  const text = 'Les commandes peuvent être annulées. Les factures portent un numéro.'
  return { text, delayMs: 1200 }
}

function writeProject() {
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(base, 'home'))
  write(
    '.skillrail/skills/release-notes/SKILL.md',
    '---\nname: release-notes\ndescription: Writes release notes. Use when a version is released.\nallowed-tools: release-notes.changes\n---\nList the changes of $0 with the tool `changes`, then write one line for each.\n',
  )
  write(
    '.skillrail/skills/release-notes/scripts/changes',
    '#!/bin/sh\necho "orders can be cancelled"\necho "invoices carry a number"\n',
    0o755,
  )
  write(
    '.skillrail/skills/check-links/SKILL.md',
    '---\nname: check-links\ndescription: Checks the links of a page. Use when a page changes.\ncontext: fork\n---\nCHECK EVERY LINK of $ARGUMENTS.\n',
  )
  write(
    '.skillrail/agents/translator.md',
    '---\nname: translator\ndescription: Translates short texts.\n---\nYou translate, and answer with the translation alone.\n',
  )
  write('README.md', '# Shop\n\nSee [the manual](manual.md).\n')
}

function write(path, text, mode = 0o644) {
  const file = join(project, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
}

async function skillrail(args) {
  const shown = args.map((word) => (word.includes(' ') ? JSON.stringify(word) : word)).join(' ')
  console.log(`\n$ skillrail ${shown}`)
  const child = spawn(process.execPath, ['--no-warnings', bin, ...args], {
    cwd: project,
    env: { ...process.env, SKILLRAIL_WORKSPACE_TRUST: 'trusted', HOME: join(base, 'home') },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exitCode = code ?? 1
}
