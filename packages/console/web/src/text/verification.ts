/**
 * Receivers that verify deliveries, each a program that runs as it is. What the host is set to stands in « »:
 * the names of the headers, in the spelling that the language reads them in.
 */
export type Language = keyof typeof RECEIVERS

export interface Scheme {
  /** What the names of the headers begin with. */
  headerPrefix: string
  /** Whether the body is ours, and not that of a transform. */
  isOwnBody: boolean
}

interface Receiver {
  name: string
  /** How it is started. */
  run: string
  code: string
  /** What it does with a verified delivery: with our body, and with another one. */
  own: string
  other: string
  /** Only for our body. */
  isForOwnBody?: true
}

const START = 'WEBHOOK_SECRET=whsec_… PORT=4000'

export const RECEIVERS = {
  receiver: {
    name: 'Node, @svc/receiver',
    run: `${START} node receiver.mjs`,
    isForOwnBody: true,
    code: `// npm install @svc/receiver
import { createServer } from 'node:http'
import { InvalidDelivery, verifyDelivery } from '@svc/receiver'

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    «handle»
    response.writeHead(204).end()
  } catch (error) {
    if (!(error instanceof InvalidDelivery)) console.error(error)
    response.writeHead(error instanceof InvalidDelivery ? error.statusCode : 500).end()
  }
}).listen(process.env.PORT)
`,
    own: `const { event, deliveryId, payload } = verifyDelivery({
      headers: request.headers,
      body: Buffer.concat(chunks),
      secret: process.env.WEBHOOK_SECRET,«option»
    })
    console.log(event, deliveryId, payload)`,
    other: '',
  },
  node: {
    name: 'Node',
    run: `${START} node receiver.mjs`,
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET
if (!secret) throw new Error('WEBHOOK_SECRET is missing')

function isVerified(headers, body) {
  const timestamp = headers['«timestamp:lower»'] ?? ''
  if (!/^[0-9]{1,13}$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const hmac = createHmac('sha256', secret).update(timestamp + '.').update(body).digest('hex')
  const expected = Buffer.from('sha256=' + hmac)
  // For a while after a rotation the second one is made with the secret before.
  return [headers['«signature:lower»'], headers['«previous:lower»']].some((header) => {
    const signature = Buffer.from(header ?? '')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (!isVerified(request.headers, body)) return response.writeHead(401).end()
  «handle»
  response.writeHead(204).end()
}).listen(process.env.PORT)
`,
    own: `const { event, deliveryId, payload } = JSON.parse(body)
  console.log(event, deliveryId, payload)`,
    other: `console.log(body.toString())`,
  },
  python: {
    name: 'Python',
    run: `${START} python3 -u receiver.py`,
    code: `import hashlib, hmac, json, os, re, time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
if not SECRET:
    raise SystemExit("WEBHOOK_SECRET is missing")


def is_verified(headers, body):
    timestamp = headers.get("«timestamp»", "")
    if not re.fullmatch("[0-9]{1,13}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + body
    expected = b"sha256=" + hmac.new(SECRET, signed, hashlib.sha256).hexdigest().encode()
    # For a while after a rotation the second one is made with the secret before.
    return any(
        hmac.compare_digest(expected, headers.get(name, "").encode())
        for name in ("«signature»", "«previous»")
    )


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        verified = is_verified(self.headers, body)
        if verified:
            «handle»
        self.send_response(204 if verified else 401)
        self.end_headers()


HTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
`,
    own: `delivery = json.loads(body)
            print(delivery["event"], delivery["deliveryId"], delivery["payload"])`,
    other: `print(body.decode())`,
  },
  go: {
    name: 'Go',
    run: `${START} go run receiver.go`,
    code: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

type delivery struct {
	Event      string          \`json:"event"\`
	DeliveryID string          \`json:"deliveryId"\`
	Payload    json.RawMessage \`json:"payload"\`
}

func isVerified(header http.Header, body []byte) bool {
	timestamp := header.Get("«timestamp»")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	// For a while after a rotation the second one is made with the secret before.
	return hmac.Equal(expected, []byte(header.Get("«signature»"))) ||
		hmac.Equal(expected, []byte(header.Get("«previous»")))
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || !isVerified(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	«handle»
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is missing")
	}
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
`,
    own: `var received delivery
	if json.Unmarshal(body, &received) != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	log.Println(received.Event, received.DeliveryID, string(received.Payload))`,
    other: `log.Println(string(body))`,
  },
  php: {
    name: 'PHP',
    run: 'WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:4000 receiver.php',
    code: `<?php
$secret = (string) getenv('WEBHOOK_SECRET');
$body = file_get_contents('php://input');
$timestamp = $_SERVER['«timestamp:php»'] ?? '';
$isTimely = preg_match('/^[0-9]{1,13}$/D', $timestamp) === 1
    && abs(time() - (int) $timestamp) <= 300;
$expected = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $body, $secret);
// For a while after a rotation the second one is made with the secret before.
$isSigned = hash_equals($expected, $_SERVER['«signature:php»'] ?? '')
    || hash_equals($expected, $_SERVER['«previous:php»'] ?? '');
if ($secret === '' || !$isTimely || !$isSigned) {
    http_response_code(401);
    exit;
}
«handle»
http_response_code(204);
`,
    own: `$delivery = json_decode($body, true);
error_log($delivery['event'] . ' ' . $delivery['deliveryId']);`,
    other: `error_log($body);`,
  },
  ruby: {
    name: 'Ruby',
    run: `${START} ruby receiver.rb`,
    code: `# gem install webrick
require "json"
require "openssl"
require "webrick"

$stdout.sync = true
SECRET = ENV.fetch("WEBHOOK_SECRET")
abort "WEBHOOK_SECRET is missing" if SECRET.empty?

def verified?(request, body)
  timestamp = request["«timestamp»"].to_s
  return false unless timestamp.match?(/\\A[0-9]{1,13}\\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > 300
  hmac = OpenSSL::HMAC.hexdigest("SHA256", SECRET, "#{timestamp}.#{body}")
  # For a while after a rotation the second one is made with the secret before.
  ["«signature»", "«previous»"].any? do |name|
    OpenSSL.secure_compare("sha256=#{hmac}", request[name].to_s)
  end
end

server = WEBrick::HTTPServer.new(Port: ENV.fetch("PORT").to_i, AccessLog: [])
server.mount_proc("/") do |request, response|
  body = request.body.to_s
  response.status = 401
  next unless verified?(request, body)
  «handle»
  response.status = 204
end
trap("TERM") { server.shutdown }
server.start
`,
    own: `delivery = JSON.parse(body)
  puts delivery["event"], delivery["deliveryId"], delivery["payload"]`,
    other: `puts body`,
  },
  java: {
    name: 'Java',
    run: `${START} java Receiver.java`,
    code: `import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Receiver {
  static final byte[] SECRET = System.getenv("WEBHOOK_SECRET").getBytes(UTF_8);

  static boolean isVerified(Headers headers, byte[] body) throws IOException {
    String timestamp = headers.getFirst("«timestamp»");
    if (timestamp == null || !timestamp.matches("[0-9]{1,13}")) return false;
    long age = Instant.now().getEpochSecond() - Long.parseLong(timestamp);
    if (Math.abs(age) > 300) return false;
    byte[] expected = ("sha256=" + hmac(timestamp + ".", body)).getBytes(UTF_8);
    // For a while after a rotation the second one is made with the secret before.
    for (String name : new String[] {"«signature»", "«previous»"}) {
      String signature = headers.getFirst(name);
      if (signature != null && MessageDigest.isEqual(expected, signature.getBytes(UTF_8))) return true;
    }
    return false;
  }

  static String hmac(String head, byte[] body) throws IOException {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
      mac.update(head.getBytes(UTF_8));
      return HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  public static void main(String[] arguments) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      boolean verified = isVerified(exchange.getRequestHeaders(), body);
      if (verified) «handle»
      exchange.sendResponseHeaders(verified ? 204 : 401, -1);
      exchange.close();
    });
    server.start();
  }
}
`,
    own: `System.out.println(new String(body, UTF_8)); // {"event": …, "payload": …, "deliveryId": …}`,
    other: `System.out.println(new String(body, UTF_8));`,
  },
} satisfies Record<string, Receiver>

/** As the host's own package has it. */
const DEFAULT_PREFIX = 'X-Svc-'

/** In the spelling of the language; PHP has a name of its own for each. */
const SPELLINGS: Record<string, (name: string) => string> = {
  lower: (name) => name.toLowerCase(),
  php: (name) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
}

export const languagesFor = ({ isOwnBody }: Scheme): Language[] =>
  (Object.entries(RECEIVERS) as [Language, Receiver][])
    .filter(([, { isForOwnBody }]) => isOwnBody || !isForOwnBody)
    .map(([language]) => language)

/** The whole program, which verifies the deliveries of this host. */
export function receiverIn(language: Language, { headerPrefix, isOwnBody }: Scheme): string {
  const { code, own, other }: Receiver = RECEIVERS[language]
  const words: Record<string, string> = {
    timestamp: `${headerPrefix}Timestamp`,
    signature: `${headerPrefix}Signature`,
    previous: `${headerPrefix}Signature-Previous`,
    option: headerPrefix === DEFAULT_PREFIX ? '' : `\n      headerPrefix: '${headerPrefix}',`,
  }
  return code
    .replace('«handle»', () => (isOwnBody ? own : other))
    .replaceAll(/«(\w+):?(\w*)»/g, (_, word: string, spelling: string) =>
      (SPELLINGS[spelling] ?? String)(words[word] ?? ''),
    )
}
