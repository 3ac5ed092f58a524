/** A request of a provider while it is made: values are put at the places of a row. */
import { isForm } from '../../parsed-body.ts'
import type { InboundRequest } from '../../source.ts'
import { itemsAt } from '../engine/items.ts'
import type { Reading } from '../engine/request-places.ts'
import type { Place } from '../preset.ts'

export class Draft {
  headers: Record<string, string>
  body: string
  /** The URL as the provider calls it: whole, or from the path on. */
  url: string
  #options: Readonly<Record<string, string>>

  constructor(
    headers: Record<string, string>,
    body: string,
    url: string,
    options: Readonly<Record<string, string>>,
  ) {
    this.headers = headers
    this.body = body
    this.url = url
    this.#options = options
  }

  get isForm(): boolean {
    return isForm(this.reading().request)
  }

  /** Path and query. */
  get path(): string {
    return this.url.replace(/^https?:\/\/[^/]+/, '') || '/'
  }

  /**
   * The request as the engine reads it. Each state gets a new one: the engine remembers parsed
   * bodies.
   */
  reading(known: Partial<Reading> = {}): Reading {
    const request = {
      method: 'POST',
      url: this.path,
      headers: this.headers,
      rawHeaders: Object.entries(this.headers).flat(),
      rawBody: Buffer.from(this.body),
    } as unknown as InboundRequest
    const url = this.url.startsWith('http') ? { url: this.url } : {}
    return { request, body: this.body, options: this.#options, ...url, ...known }
  }

  put(place: Place, value: string): void {
    const at = place.indexOf(':')
    const name = place.slice(at + 1)
    switch (place.slice(0, at)) {
      case 'header':
        this.headers[name.toLowerCase()] = value
        return
      case 'query':
        this.url += `${this.url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
        return
      case 'form': {
        const form = new URLSearchParams(this.body)
        form.set(name, value)
        this.body = form.toString()
        return
      }
      case 'json':
        this.#changeJson((root) => putAt(root, name.split('.'), value))
        return
      default:
        throw new Error(`signed cannot put a value at ${place}`)
    }
  }

  /** Puts into each item of a batch the value at a place `item:…` that is made for it. */
  putEach(split: string, place: Place, valueOf: (reading: Reading) => string): void {
    const path = place.slice('item:'.length).split('.')
    this.#changeJson((root) => {
      for (const item of itemsAt(split)(root)) putAt(item, path, valueOf(this.reading({ item })))
    })
  }

  #changeJson(change: (root: unknown) => void): void {
    const root = JSON.parse(this.body) as unknown
    change(root)
    this.body = JSON.stringify(root)
  }
}

/** A number stays a number. */
function putAt(root: unknown, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path
  const object = root as Record<string, unknown>
  if (rest.length > 0) putAt((object[name] ??= {}), rest, value)
  else object[name] = typeof object[name] === 'number' ? Number(value) : value
}
