/** A request of a provider while it is made: values are put at the places of a row. */
import { Buffer } from 'node:buffer'
import { itemsAt, pathOf, type Reading } from '../engine/places.ts'
import { Sent } from '../engine/sent.ts'
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
    return this.reading().sent.isForm
  }

  /** Path and query. */
  get path(): string {
    return this.url.replace(/^https?:\/\/[^/]+/, '') || '/'
  }

  /** The request as the engine reads it. */
  reading(known: Partial<Reading> = {}): Reading {
    const request = {
      method: 'POST',
      url: this.path,
      headers: this.headers,
      rawHeaders: Object.entries(this.headers).flat(),
      rawBody: Buffer.from(this.body),
    }
    const url = this.url.startsWith('http') ? { url: this.url } : {}
    return { sent: new Sent(request, this.body), options: this.#options, ...url, ...known }
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
        this.#changeJson((root) => putAt(root, pathOf(name), value))
        return
      default:
        throw new Error(`signed cannot put a value at ${place}`)
    }
  }

  /** Puts into each item of a batch the value at a place `item:…` that is made for it. */
  putEach(split: string, place: Place, valueOf: (reading: Reading) => string): void {
    const path = pathOf(place.slice('item:'.length))
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
export function putAt(root: unknown, path: readonly string[], value: string): void {
  const [name = '', ...rest] = path
  const object = root as Record<string, unknown>
  if (rest.length > 0) putAt((object[name] ??= {}), rest, value)
  else object[name] = typeof object[name] === 'number' ? Number(value) : value
}
