import type { LanguageModel } from 'ai'
import { aiSdk, loadPackage, sdkPackage } from './ai-sdk.ts'
import { checkArgument, checkOptions, type OptionOwner, rule } from '#core/api-options'
import { present } from '#core/json'
import { type Runtime, systemRuntime } from '#core/runtime'
import { didYouMean } from '#core/text'
import { ModelNotFoundError, usageError } from './errors.ts'
import type { ModelObject } from './types.ts'

/** Creates models by name, as every provider of the AI SDK does. */
export interface ModelProvider {
  languageModel(name: string): LanguageModel
}

export interface ResolveModelOptions {
  /** Further providers by name; they take precedence. */
  providers?: Readonly<Record<string, ModelProvider>> | undefined
  /** Replaces the address of the provider. */
  baseUrl?: string | undefined
  /** Default: the environment variable of the provider. */
  apiKey?: string | undefined
  /** The default address of `openai-compatible`, from the settings. */
  compatibleUrl?: string | undefined
  runtime?: Pick<Runtime, 'env'> | undefined
}

const resolveOptions: OptionOwner<ResolveModelOptions> = {
  of: 'resolveModel',
  rules: {
    providers: rule.object,
    baseUrl: rule.text,
    apiKey: rule.text,
    compatibleUrl: rule.text,
    runtime: rule.object,
  },
}

/** Providers with a package `@ai-sdk/NAME`: its factory and the variable with the key. */
const hostedProviders: ReadonlyMap<string, readonly [factory: string, keyVariable?: string]> =
  new Map([
    ['anthropic', ['createAnthropic', 'ANTHROPIC_API_KEY']],
    ['openai', ['createOpenAI', 'OPENAI_API_KEY']],
    ['google', ['createGoogle', 'GOOGLE_GENERATIVE_AI_API_KEY']],
    ['mistral', ['createMistral', 'MISTRAL_API_KEY']],
    ['groq', ['createGroq', 'GROQ_API_KEY']],
    ['xai', ['createXai', 'XAI_API_KEY']],
    ['deepseek', ['createDeepSeek', 'DEEPSEEK_API_KEY']],
    ['cohere', ['createCohere', 'COHERE_API_KEY']],
    ['azure', ['createAzure', 'AZURE_API_KEY']],
    ['amazon-bedrock', ['createAmazonBedrock']],
    ['google-vertex', ['createGoogleVertex']],
  ])

/** OpenAI-compatible servers and their default addresses. */
const compatible: ReadonlyMap<string, string | undefined> = new Map([
  ['openai-compatible', undefined],
  ['ollama', 'http://127.0.0.1:11434/v1'],
  ['llama.cpp', 'http://127.0.0.1:8080/v1'],
  ['lmstudio', 'http://127.0.0.1:1234/v1'],
  ['vllm', 'http://127.0.0.1:8000/v1'],
])

/** The variable with the key of OpenAI-compatible servers. No other key is sent to them. */
const compatibleKeyVariable = 'SKILLRAIL_AGENT_API_KEY'

/**
 * Returns the model with a name such as `anthropic:claude-sonnet-4-5` or `ollama:qwen3:8b`. Only the
 * package of the provider is loaded. Whether the provider has the model shows in the first call.
 *
 * @throws {ModelNotFoundError} for an unknown provider or one whose package is not installed.
 * @throws {AgentUsageError} for a missing key or address, or an invalid address.
 */
export async function resolveModel(
  name: string,
  resolution: ResolveModelOptions = {},
): Promise<ModelObject> {
  checkArgument(name, 'The name of a model', rule.text)
  const options = checkOptions(resolution, resolveOptions)
  const { provider, model } = readModelName(name, options)
  const { baseUrl, providers = {} } = options
  if (baseUrl !== undefined) requireAddress(baseUrl)
  const programProvider = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  const load = compatible.has(provider) ? compatibleProvider : hostedProvider
  const modelProvider = programProvider ?? (await load(provider, options))
  const resolvedModel = modelProvider.languageModel(model)
  if (typeof resolvedModel !== 'string') return resolvedModel
  const message = `The provider of ${name} returned a name instead of a model.`
  throw new ModelNotFoundError({ code: 'model-unresolved', message })
}

export function readModelName(
  name: string,
  { providers = {}, baseUrl }: ResolveModelOptions = {},
): { provider: string; model: string } {
  const names = [
    ...new Set([...Object.keys(providers), ...hostedProviders.keys(), ...compatible.keys()]),
  ]
  const colon = name.indexOf(':')
  const [provider, model] = [name.slice(0, colon), name.slice(colon + 1)]
  const providersHint = `Providers: ${names.join(', ')}.`
  if (colon <= 0 || model === '') {
    const bare = name.replaceAll(':', '')
    const likelyProvider = baseUrl === undefined ? 'PROVIDER' : 'openai-compatible'
    const example = names.includes(bare) ? `${bare}:NAME` : `${likelyProvider}:${bare || 'NAME'}`
    const message = `The model ${JSON.stringify(name)} does not say whose it is.`
    throw usageError(
      'model-name',
      message,
      `Write it as provider:name, such as ${example}. ${providersHint}`,
    )
  }
  if (names.includes(provider)) return { provider, model }
  const message = `Unknown model provider ${JSON.stringify(provider)}.`
  const hint = `${didYouMean(provider, names)} ${providersHint}`.trim()
  throw new ModelNotFoundError({ code: 'provider-unknown', message, hint })
}

async function hostedProvider(
  name: string,
  { runtime = systemRuntime(), baseUrl, apiKey }: ResolveModelOptions,
): Promise<ModelProvider> {
  const [factory = '', keyVariable] = hostedProviders.get(name) ?? []
  const packageName = `@ai-sdk/${name}`
  const moduleExports = await loadPackage<object>(
    {
      kind: 'provider',
      who: `The provider ${name} needs`,
      package: packageName,
      install: [sdkPackage, packageName],
    },
    () => import(packageName),
  )
  const key = apiKey ?? (keyVariable && runtime.env[keyVariable])
  if (key === undefined && keyVariable !== undefined) {
    const message = `There is no key for the provider ${name}.`
    throw usageError('key-missing', message, `Set ${keyVariable}.`)
  }
  const make: unknown = Reflect.get(moduleExports, factory)
  if (isFactory(make)) return make({ apiKey: key, baseURL: baseUrl })
  const message = `The installed ${packageName} has no ${factory}: it is of another version.`
  const hint = `npm install ${packageName}@latest`
  throw new ModelNotFoundError({ code: 'provider-unusable', message, hint })
}

async function compatibleProvider(
  name: string,
  { runtime = systemRuntime(), baseUrl, apiKey, compatibleUrl }: ResolveModelOptions,
): Promise<ModelProvider> {
  const baseURL = baseUrl ?? compatible.get(name) ?? (compatibleUrl || undefined)
  if (baseURL === undefined) {
    const message = 'An OpenAI-compatible server needs its address.'
    const hint = 'Give --base-url http://127.0.0.1:11434/v1, or set agent.baseUrl.'
    throw usageError('base-url-missing', message, hint)
  }
  const key = apiKey ?? runtime.env[compatibleKeyVariable]
  const packageName = '@ai-sdk/openai-compatible'
  const { createOpenAICompatible } = await loadPackage(
    {
      kind: 'provider',
      who: `The provider ${name} needs`,
      package: packageName,
      install: [sdkPackage, `${packageName}@3`],
    },
    () => import('@ai-sdk/openai-compatible'),
  )
  const { extractReasoningMiddleware, wrapLanguageModel } = await aiSdk()
  const models = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    // Most servers can force a shape; the loop asks the others again without one.
    supportsStructuredOutputs: true,
    ...present({ apiKey: key }),
  })
  // Some servers put the reasoning of a model between tags before its answer.
  const middleware = extractReasoningMiddleware({ tagName: 'think' })
  const languageModel = (model: string) =>
    wrapLanguageModel({ model: models.languageModel(model), middleware })
  return { languageModel }
}

function isFactory(value: unknown): value is (options: object) => ModelProvider {
  return typeof value === 'function'
}

function requireAddress(text: string): void {
  // Without a scheme, `me:secret@host` would parse as a scheme and a path.
  const urls = [text, `http://${text}`].flatMap((address) => URL.parse(address) ?? [])
  if (urls.some(({ username, password }) => username !== '' || password !== '')) {
    const message = 'The address of the provider has a user or password, which is never sent.'
    const hint = `Give a key by the variable of the provider, such as ${compatibleKeyVariable}.`
    throw usageError('base-url', message, hint)
  }
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return
  const [visibleAddress = ''] = text.split(/[?#]/)
  const message = `The address ${JSON.stringify(visibleAddress)} of the provider is not an http or https URL.`
  const isHost = /^[\w.[]/.test(visibleAddress) && !visibleAddress.includes('://')
  const hint = isHost
    ? `Without http:// it names no server: write http://${visibleAddress}`
    : 'It looks like http://127.0.0.1:11434/v1.'
  throw usageError('base-url', message, hint)
}
