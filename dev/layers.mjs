// The layers of src/: a folder imports itself and folders of the rows before its own, types included.
// `npm run generate` writes the lint rules and the table of AGENTS.md from this, and
// test/project/layers.test.ts checks every import against it.

/** Folders by layer, lowest first, with what each contains. */
export const layers = [
  { core: 'errors, diagnostics, settings, safe files, journal file, the `Command` contract' },
  {
    skill: 'the format: parse, validate, write. Text in, value out',
    rank: 'which skill or tool a sentence means: one ranker, pure',
  },
  {
    trust: 'what a skill or a project is allowed to do',
    trigger: 'when a reference is injected: patterns, matching, checks, export',
  },
  {
    library: 'where skills are stored: discovery, precedence, `SkillManager`',
    exec: 'processes, sandbox, script protocol, agent clients as executors',
  },
  {
    audit: 'what a skill contains',
    hooks: 'agent clients: adapters, runtime, installation',
    chain: 'plan, interpreter, journal engine, Restate engine, runs',
    tools: 'MCP servers, cache, routing, calls, workflows, sessions',
  },
  { agent: 'agent, subagents, the AI SDK; the only folder that imports `ai`' },
  { project: 'joins the features for one project: chains and runs, verdicts, trust reports' },
  { rail: 'a chain that the session of an agent client executes and its hooks enforce' },
  {
    mcp: 'Skillrail as an MCP server',
    view: 'the local web view',
    testing: 'the test harness for authors of skills',
  },
  { commands: 'the commands, one folder for each feature: parse, call a service, render' },
  { cli: 'parser, output, help, registry of commands' },
  { entries: 'one file for each package export; names each public symbol' },
]

const folders = layers.flatMap((layer) => Object.keys(layer))

/** Folders that a folder imports, its own included. */
export function importableFrom(folder) {
  const level = layers.findIndex((layer) => Object.hasOwn(layer, folder))
  return [...layers.slice(0, level).flatMap((layer) => Object.keys(layer)), folder]
}

/** Overrides for the linter, one for each folder that does not import everything. */
export function lintOverrides() {
  return folders.map((folder) => {
    const allowed = importableFrom(folder)
    const forbidden = folders.filter((other) => !allowed.includes(other))
    const upward = {
      group: forbidden.map((other) => `#${other}/**`),
      message: `${folder} imports only ${allowed.join(', ')}`,
    }
    const relative = {
      group: ['../**'],
      message: 'files of other folders are imported as #folder/file',
    }
    return {
      files: [`src/${folder}/**`],
      rules: {
        'no-restricted-imports': [
          'error',
          { patterns: forbidden.length > 0 ? [upward, relative] : [relative] },
        ],
      },
    }
  })
}

/** The table of AGENTS.md. */
export function layersTable() {
  const rows = layers.flatMap((layer, index) =>
    Object.entries(layer).map(([folder, contents]) => [
      String(index + 1),
      `\`${folder}/\``,
      contents,
    ]),
  )
  const head = ['layer', 'folder', 'contents']
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  )
  const line = (cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}
