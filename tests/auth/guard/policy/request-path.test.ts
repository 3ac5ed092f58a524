import t from 'tap'
import {
  pathOf,
  type RouterOptions,
} from '../../../../packages/auth/src/guard/policy/request-path.ts'

const plain: RouterOptions = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
}
const lenient: RouterOptions = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
}

const clear: [target: string, path: string, router?: RouterOptions][] = [
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/', '/a/'],
  ['/a/', '/a', lenient],
  ['/', '/', lenient],
  ['/a//b', '/a/b', lenient],
  ['/A/B', '/a/b', lenient],
  ['/a?b=/c', '/a'],
  ['/a#/b', '/a'],
  ['/a#?b', '/a'],
  ['/%61', '/a'],
  ['/%C3%A4', '/ä'],
  ['/a%20b', '/a b'],
  ['/a.b/...', '/a.b/...'],
  ['http://host/a', '/a'],
  ['HTTPS://user@host:1/a?b', '/a'],
  ['http://host', '/'],
  ['http://host?/a', '/'],
]

const doubtful: [target: string, router?: RouterOptions][] = [
  [''],
  ['*'],
  ['a'],
  ['ws://host/a'],
  ['http:///a'],
  ['http://host#/a'],
  ['//a'],
  ['/a//b'],
  ['/a/../b'],
  ['/a/..'],
  ['/./a'],
  ['/a/.'],
  ['/%2e%2e/a'],
  ['/.%2E/a', lenient],
  ['/a%2fb'],
  ['/a%2Fb', lenient],
  ['/a\\b'],
  ['/a%5cb'],
  ['/a;x/b'],
  ['/a;x', lenient],
  ['/a;/../b', lenient],
  ['http://a\\b/c'],
  ['http://a\\..\\b/c'],
  ['http://a;b/c'],
  ['/a%3bx', lenient],
  ['/%00'],
  ['/a%0d%0a'],
  ['/a\u0080'],
  ['/a%23'],
  ['/a%3fb'],
  ['/a%20/b'],
  ['/a%20'],
  ['/%C2%A0a'],
  ['/%2541'],
  ['/%252e%252e/a'],
  ['/%zz'],
  ['/%ff'],
  ['/%E0%A4%A'],
]

t.test('the path of a request is the one that the router derives from its target', (t) => {
  for (const [target, path, router = plain] of clear) t.equal(pathOf(target, router), path, target)
  t.end()
})

t.test('a target that the next reader might read in another way has no path', (t) => {
  for (const [target, router = plain] of doubtful) {
    t.equal(pathOf(target, router), undefined, target)
  }
  t.end()
})
