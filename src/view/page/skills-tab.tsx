import { shellWord } from '#core/text'
import type { Answers } from '#view/answers'
import { useAnswer } from './answer.tsx'
import { List, RowHead } from './list.tsx'
import {
  addressOf,
  amount,
  type Child,
  Chip,
  Empty,
  Facts,
  Findings,
  LongText,
  Section,
  Table,
  Trouble,
  Typed,
} from './parts.tsx'
import { ask, AskError } from './server.ts'

type ListedSkill = Answers['skills']['skills'][number]
type SkillAnswer = Answers['skill']

export function SkillsTab({ id }: { id: string | undefined }) {
  const { answer, error } = useAnswer('skills')
  return (
    <List<ListedSkill>
      noun="skills"
      items={answer?.skills}
      error={error}
      diagnostics={answer?.diagnostics}
      selected={id}
      Detail={Skill}
      resting={
        <p class="soft">Choose a skill to see what it is, what it can do and what it says.</p>
      }
      opensFirst
      keyOf={(skill) => skill.id}
      words={({ name, description, path, scope, trust, standing, clients }) =>
        [name, description, path, scope, trust, standing].concat(clients)
      }
      content={Row}
      empty={<Empty text="There are no skills here. This makes one:" line="skillrail new NAME" />}
    />
  )
}

function problemsOf({ diagnostics }: ListedSkill) {
  return diagnostics.filter(({ severity }) => severity !== 'info').length
}

function Row(skill: ListedSkill) {
  const { name, description, scope, trust, tokens, standing, shadows = [] } = skill
  const problems = problemsOf(skill)
  return (
    <>
      <RowHead name={name}>
        <span class="side">{standing !== 'broken' && amount(tokens.body, 'token')}</span>
      </RowHead>
      <div class="about">{description}</div>
      <div class="chips">
        {scope !== undefined && <Chip text={scope} kind="scope" />}
        <Chip text={standing === 'used' ? trust : standing} />
        {shadows.length > 0 && <Chip text={`hides ${shadows.length}`} kind="hides" />}
        {problems > 0 && standing !== 'broken' && (
          <Chip text={amount(problems, 'problem')} kind="warning" />
        )}
      </div>
    </>
  )
}

function Skill({ id }: { id: string }) {
  const { answer, error } = useAnswer('skill', { id })
  if (error instanceof AskError && error.code === 'skill-unusable') {
    return (
      <>
        <h1>This skill cannot be used</h1>
        <Trouble error={error} />
        <Findings list={error.diagnostics} />
        <Source id={id} />
      </>
    )
  }
  return (
    <>
      {error !== undefined && <Trouble error={error} />}
      {answer !== undefined && <Details {...answer} />}
    </>
  )
}

function Details(skill: SkillAnswer) {
  const { id, name, description, directory, trust, trustReason, fields } = skill
  const { diagnostics, facts, clients } = skill
  return (
    <>
      <h1>{name}</h1>
      <p class="lead">{description}</p>
      <p class="chips">
        <Chip text={trust} />
        <span class="soft">{trustReason}</span>
        {fields.chain !== undefined && <a href={addressOf(['chains', id])}>See it as a chain</a>}
      </p>
      <Findings list={diagnostics} />
      <Section title="Properties">
        <Facts
          rows={[
            ...facts,
            ['read by', clients.join(', ') || 'no client itself; Skillrail and its hook do'],
          ]}
        />
      </Section>
      <Allowed {...skill} />
      <Triggers {...skill} />
      <Typed line={`skillrail audit ${shellWord(directory)}`} what="What its files mention" />
      <Source id={id} />
    </>
  )
}

/** Same text as `skillrail trust`; a mention in a file is not a permission. */
function Allowed({ trust, acting }: SkillAnswer) {
  return (
    <Section title={trust === 'trusted' ? 'What it can execute' : 'What it asks to execute'}>
      {trust !== 'trusted' && (
        <Typed line="skillrail trust" what="It can execute none of this until you trust it" />
      )}
      {acting.length === 0 && <p class="soft">Nothing: it has instructions and references.</p>}
      <Facts rows={acting.map(({ kind, what }) => [kind, <code>{what}</code>])} />
    </Section>
  )
}

function Source({ id }: { id: string }) {
  return (
    <Section title="SKILL.md">
      <LongText read={(from) => ask('skill-text', { id, from })} />
    </Section>
  )
}

function Triggers({ fields: { triggers } }: SkillAnswer): Child {
  if (triggers.length === 0) return null
  return (
    <Section title="Triggers">
      <Table
        head={['on', 'injects']}
        rows={triggers.map(({ match, inject }) => [<code>{match}</code>, <code>{inject}</code>])}
      />
      <p>
        <a href={addressOf(['triggers'])}>Try a prompt</a>
      </p>
    </Section>
  )
}
