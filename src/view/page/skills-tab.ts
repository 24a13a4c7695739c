import type { AuditAnswer, ListedSkill, SkillAnswer } from '../answers.ts'
import {
  amount,
  bytes,
  type Child,
  chip,
  count,
  empty,
  facts,
  fill,
  findings,
  longText,
  make,
  section,
  table,
  trouble,
} from './elements.ts'
import { filteredList, rowHead, splitView } from './filtered-list.ts'
import { ask, AskError } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const skillsTab: Tab = { name: 'skills', title: 'Skills', open }

function open(): TabView {
  const list = filteredList<ListedSkill>({
    noun: 'skills',
    words: ({ name, description, path, scope, trust }) =>
      [name, description, path, scope, trust].join(' '),
    key: ({ id }) => id,
    to: ({ id }) => ['skills', id],
    content: row,
    empty: () => empty('There are no skills here. This makes one:', 'skillrail new NAME'),
    kinds: {
      trusted: ({ trust }) => trust === 'trusted',
      untrusted: ({ trust }) => trust === 'untrusted',
      'with problems': (skill) => skill.standing === 'broken' || problemsOf(skill) > 0,
      shadowed: ({ standing }) => standing === 'shadowed',
    },
  })
  const resting = make(
    'p',
    { class: 'soft' },
    'Choose a skill to see what it is, what it may do and what it says.',
  )
  const { element, open: show } = splitView(list, 'skills', resting)
  ask('skills').then(
    ({ skills, diagnostics }) => {
      list.update(skills)
      list.showDiagnostics(diagnostics)
    },
    (error: unknown) => list.fail(trouble(error)),
  )
  return {
    element,
    show([id]) {
      show(
        id,
        id === undefined
          ? undefined
          : ask('skill', { id }).then(detail, (error: unknown) => unusable(id, error)),
      )
    },
  }
}

function problemsOf({ diagnostics }: ListedSkill): number {
  return diagnostics.filter(({ severity }) => severity !== 'info').length
}

function row(skill: ListedSkill): Child {
  const { name, description, scope, trust, tokens, standing, shadows = [] } = skill
  const problems = problemsOf(skill)
  return [
    rowHead(
      name,
      make('span', { class: 'side' }, standing === 'broken' ? '' : amount(tokens.body, 'token')),
    ),
    make('div', { class: 'about' }, description),
    make(
      'div',
      { class: 'chips' },
      chip(scope, 'scope'),
      standing === 'used' ? chip(trust) : chip(standing),
      shadows.length === 0 ? undefined : chip(`hides ${shadows.length}`, 'hides'),
      problems === 0 || standing === 'broken'
        ? undefined
        : chip(amount(problems, 'problem'), 'warning'),
    ),
  ]
}

async function detail(skill: SkillAnswer): Promise<Child> {
  const { id, name, description, trust, trustReason, isChain, diagnostics } = skill
  return [
    make('h1', {}, name),
    make('p', { class: 'lead' }, description),
    make(
      'p',
      { class: 'chips' },
      chip(trust),
      make('span', { class: 'soft' }, trustReason),
      isChain ? make('a', { to: ['chains', id] }, 'See it as a chain') : undefined,
    ),
    findings(diagnostics),
    section('What is known of it', facts(skill.facts)),
    triggers(skill),
    section('What it may do', audited(id)),
    source(id),
    files(skill),
  ]
}

/** What is wrong with one that cannot be used is seen in its text. */
function unusable(id: string, error: unknown): Child {
  if (!(error instanceof AskError) || error.code !== 'skill-unusable') throw error
  return [
    make('h1', {}, 'This skill cannot be used'),
    trouble(error),
    findings(error.diagnostics),
    source(id),
  ]
}

function source(id: string): HTMLElement {
  return section(
    'SKILL.md',
    longText((from) => ask('skill-text', { id, from })),
  )
}

function triggers({ triggers }: SkillAnswer): Child {
  if (triggers.length === 0) return undefined
  return section(
    'Triggers',
    table(
      ['on', 'injects', 'line'],
      triggers.map(({ match, inject, line }) => [
        make('code', {}, match),
        make('code', {}, inject),
        String(line),
      ]),
      [2],
    ),
    make('p', {}, make('a', { to: ['triggers'] }, 'Try a prompt')),
  )
}

function files({ resources, resourcesTruncated }: SkillAnswer): Child {
  if (resources.length === 0) return undefined
  const shown = resources.slice(0, mostFiles)
  const rest = resources.length - shown.length
  return section(
    'Files beside it',
    table(
      ['file', 'size'],
      shown.map(({ path, size }) => [make('code', {}, path), bytes(size)]),
      [1],
    ),
    rest > 0 || resourcesTruncated
      ? make('p', { class: 'soft' }, rest > 0 ? `and ${count(rest)} more` : 'and more')
      : undefined,
  )
}

const mostFiles = 200

/** What `skillrail audit` says; read when a skill is opened, since each of its files is. */
function audited(id: string): HTMLElement {
  const place = make('div', {}, make('p', { class: 'soft' }, 'Reading its files …'))
  ask('audit', { id }).then(
    (answer) => fill(place, auditParts(answer)),
    (error: unknown) => fill(place, trouble(error)),
  )
  return place
}

function auditParts({ files, analysedBytes, findings: found }: AuditAnswer): Child {
  const problems = found.filter(({ severity }) => severity !== 'info')
  const byCode = Map.groupBy(
    found.filter(({ severity }) => severity === 'info'),
    ({ code }) => code,
  )
  const rows = [...byCode].map(([code, list]): readonly [string, string] => {
    const said = [...new Set(list.map(({ subject, message }) => subject ?? message))]
    const more = said.length - mostSubjects
    return [code, `${said.slice(0, mostSubjects).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
  })
  return [
    findings(problems),
    facts(rows),
    make(
      'p',
      { class: 'soft' },
      `${amount(files, 'file')}, ${bytes(analysedBytes)} of text. These are facts, and no verdict.`,
    ),
  ]
}

const mostSubjects = 12
