// URL and URLSearchParams as the WHATWG URL standard has them.
() => {
"use strict";
const PORTS = {__proto__: null, "ftp:": "21", "file:": "", "http:": "80", "https:": "443", "ws:": "80", "wss:": "443"};
const C0 = /[^\x20-\x7e]/u, FRAGMENT = /[^\x20-\x7e]|[ "<>`]/u, QUERY = /[^\x20-\x7e]|[ "#<>]/u;
const SPECIAL_QUERY = /[^\x20-\x7e]|[ "#<>']/u, PATH = /[^\x20-\x7e]|[ "#<>?`{}]/u;
const USERINFO = /[^\x20-\x7e]|[ "#<>?^`{}/:;=@[\\\]|]/u;
const FORBIDDEN_HOST = /[\x00\t\n\r #/:<>?@[\\\]^|]/, FORBIDDEN_DOMAIN = /[\x00-\x20#%/:<>?@[\\\]^|\x7f]/;
const invalid = text => { throw new TypeError("Invalid URL: " + String(text).slice(0, 200)); };
const hex = code => "%" + (code < 16 ? "0" : "") + code.toString(16).toUpperCase();

const encode = (text, set) => {
  let out = "";
  for (const char of text.toWellFormed()) {
    out += !set.test(char) ? char : char.codePointAt(0) > 0x7f ? encodeURIComponent(char) : hex(char.codePointAt(0));
  }
  return out;
};

const decode = text => {
  const bytes = [], out = [];
  const flush = () => { if (bytes.length) out.push(utf8(bytes.splice(0))); };
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "%" && /^[0-9a-fA-F]{2}$/.test(text.slice(i + 1, i + 3))) {
      bytes.push(parseInt(text.slice(i + 1, i + 3), 16));
      i += 2;
    } else { flush(); out.push(text[i]); }
  }
  flush();
  return out.join("").toWellFormed();
};

const utf8 = bytes => {
  let out = "";
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i], length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    try {
      if (!length) throw 0;
      out += decodeURIComponent(bytes.slice(i, i + length).map(hex).join(""));
      i += length;
    } catch { out += "\ufffd"; i += 1; }
  }
  return out;
};

const punycode = label => {
  const points = Array.from(label, char => char.codePointAt(0)), plain = points.filter(point => point < 128);
  let out = String.fromCodePoint(...plain) + (plain.length ? "-" : ""), n = 128, delta = 0, bias = 72, handled = plain.length;
  const digit = value => String.fromCharCode(value + (value < 26 ? 97 : 22));
  const adapt = (change, count, first) => {
    let k = 0;
    change = first ? Math.floor(change / 700) : change >> 1;
    for (change += Math.floor(change / count); change > 455; k += 36) change = Math.floor(change / 35);
    return k + Math.floor(36 * change / (change + 38));
  };
  while (handled < points.length) {
    const next = Math.min(...points.filter(point => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point !== n) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (q < t) break;
        out += digit(t + (q - t) % (36 - t));
        q = Math.floor((q - t) / (36 - t));
      }
      out += digit(q);
      bias = adapt(delta, handled + 1, handled === plain.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return "xn--" + out;
};

const toAscii = domain => {
  if (/^[\x00-\x7f]*$/.test(domain)) return domain.toLowerCase();
  const mapped = domain.replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "").normalize("NFKC").toLowerCase().normalize("NFKC");
  return mapped.replace(/[\u3002\uff0e\uff61]/g, ".").split(".")
    .map(label => /^[\x00-\x7f]*$/.test(label) ? label : punycode(label)).join(".");
};

const ipv4Number = part => {
  if (/^0[xX][0-9a-fA-F]*$/.test(part)) return part.length === 2 ? 0 : parseInt(part.slice(2), 16);
  if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
  return /^(0|[1-9][0-9]*)$/.test(part) ? parseInt(part, 10) : NaN;
};

const parseIpv4 = domain => {
  const parts = domain.split(".");
  if (parts.length > 1 && parts.at(-1) === "") parts.pop();
  if (!/^([0-9]+|0[xX][0-9a-fA-F]*)$/.test(parts.at(-1))) return null;
  const numbers = parts.map(ipv4Number), last = numbers.pop();
  if (numbers.length > 3 || numbers.some(number => !(number < 256)) || !(last < 256 ** (4 - numbers.length))) return invalid(domain);
  const value = numbers.reduce((sum, number, at) => sum + number * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join(".");
};

const parseIpv6 = text => {
  const halves = text.split("::");
  if (halves.length > 2) invalid(text);
  const [head, tail = null] = halves.map(half => half === "" ? [] : half.split(":"));
  const pieces = [...head, ...tail ?? []], final = pieces.at(-1);
  if (final?.includes(".")) {
    if (!/^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$/.test(final) || final.split(".").some(part => part > 255)) invalid(text);
    const [a, b, c, d] = final.split(".").map(Number);
    (tail?.length ? tail : head).splice(-1, 1, (a * 256 + b).toString(16), (c * 256 + d).toString(16));
  }
  const all = tail === null ? head : [...head, ...Array(Math.max(0, 8 - head.length - tail.length)).fill("0"), ...tail];
  if (all.length !== 8 || (tail !== null && head.length + tail.length > 7) || !all.every(piece => /^[0-9a-fA-F]{1,4}$/.test(piece))) invalid(text);
  const plain = all.map(piece => parseInt(piece, 16).toString(16)).join(":");
  const longest = (plain.match(/\b0(:0)+\b/g) ?? []).sort((a, b) => b.length - a.length)[0];
  if (!longest) return "[" + plain + "]";
  const at = plain.search(new RegExp("(^|:)" + longest + "(:|$)")), from = plain[at] === ":" ? at + 1 : at;
  return "[" + plain.slice(0, from).replace(/:$/, "") + "::" + plain.slice(from + longest.length).replace(/^:/, "") + "]";
};

const parseHost = (text, special) => {
  if (text[0] === "[") return text.endsWith("]") ? parseIpv6(text.slice(1, -1)) : invalid(text);
  if (!special) return FORBIDDEN_HOST.test(text) ? invalid(text) : encode(text, C0);
  const decoded = decode(text), domain = decoded.includes("\ufffd") ? "" : toAscii(decoded);
  return domain === "" || FORBIDDEN_DOMAIN.test(domain) ? invalid(text) : parseIpv4(domain) ?? domain;
};

const isDrive = text => /^[a-zA-Z][:|]$/.test(text);
const startsWithDrive = text => /^[a-zA-Z][:|]([/\\?#]|$)/.test(text);
const isSingleDot = text => /^(\.|%2e)$/i.test(text), isDoubleDot = text => /^(\.|%2e){2}$/i.test(text);

const parsePath = (text, url) => {
  const special = url.protocol in PORTS, parts = text.split(special ? /[/\\]/ : "/");
  const shorten = () => { if (!(url.protocol === "file:" && url.path.length === 1 && /^[a-zA-Z]:$/.test(url.path[0]))) url.path.pop(); };
  parts.forEach((part, at) => {
    const last = at === parts.length - 1;
    if (isDoubleDot(part)) { shorten(); if (last) url.path.push(""); }
    else if (isSingleDot(part)) { if (last) url.path.push(""); }
    else {
      if (url.protocol === "file:" && !url.path.length && isDrive(part)) part = part[0] + ":";
      url.path.push(encode(part, PATH));
    }
  });
};

const parseAuthority = (text, url) => {
  const special = url.protocol in PORTS, at = text.lastIndexOf("@");
  if (at >= 0) {
    const [, name, password = ""] = /^([^:]*):?([^]*)$/.exec(text.slice(0, at));
    url.username = encode(name, USERINFO);
    url.password = encode(password, USERINFO);
    if (at === text.length - 1) invalid(text);
  }
  const [, host, port] = /^(\[[^\]]*\]?[^:]*|[^:]*)(?::([^]*))?$/.exec(text.slice(at + 1)) ?? invalid(text);
  if (host === "" && (special || at >= 0 || port !== undefined)) invalid(text);
  url.host = host === "" ? "" : parseHost(host, special);
  if (port) {
    if (!/^[0-9]+$/.test(port) || Number(port) > 65535) invalid(text);
    url.port = String(Number(port)) === PORTS[url.protocol] ? "" : String(Number(port));
  }
};

const parseFile = (rest, url, base) => {
  const slashes = /^[/\\]{0,2}/.exec(rest)[0].length;
  url.host = "";
  if (slashes === 2) {
    const host = /^[^/\\?#]*/.exec(rest.slice(2))[0];
    if (isDrive(host)) return parsePath(rest.slice(2), url);
    const parsed = host === "" ? "" : parseHost(host, true);
    url.host = parsed === "localhost" ? "" : parsed;
    return parsePath(rest.slice(2 + host.length).replace(/^[/\\]/, ""), url);
  }
  if (base?.protocol !== "file:") return parsePath(rest.slice(slashes), url);
  url.host = base.host;
  if (slashes === 1) {
    if (!startsWithDrive(rest.slice(1)) && /^[a-zA-Z]:$/.test(base.path[0] ?? "")) url.path.push(base.path[0]);
    return parsePath(rest.slice(1), url);
  }
  if (startsWithDrive(rest)) { url.host = ""; return parsePath(rest, url); }
  url.path = [...base.path];
  if (rest !== "") { parsePath("..", url); url.path.pop(); parsePath(rest, url); }
};

const parse = (input, base) => {
  const text = input.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const url = {protocol: "", username: "", password: "", host: null, port: "", path: [], opaque: null, query: null, hash: null};
  const found = /^([a-zA-Z][a-zA-Z0-9+.-]*:)([^]*)$/.exec(text);
  let rest = found ? found[2] : text;
  const cutAt = mark => {
    const at = rest.indexOf(mark), part = at < 0 ? null : rest.slice(at + 1);
    if (at >= 0) rest = rest.slice(0, at);
    return part;
  };
  const hash = cutAt("#"), query = cutAt("?");
  if (hash !== null) url.hash = encode(hash, FRAGMENT);
  url.protocol = found ? found[1].toLowerCase() : base?.protocol ?? invalid(input);
  const special = url.protocol in PORTS, slash = special ? /^[/\\]/ : /^\//, isRelative = !found || (special && base?.protocol === url.protocol && url.protocol !== "file:" && !/^[/\\]{2}/.test(rest));
  if (query !== null) url.query = encode(query, special ? SPECIAL_QUERY : QUERY);
  if (!found && base.opaque !== null) {
    if (rest !== "" || query !== null || hash === null) invalid(input);
    return {...url, opaque: base.opaque, query: base.query};
  }
  if (url.protocol === "file:") {
    parseFile(rest, url, base);
    if (rest === "" && query === null && base?.protocol === "file:") url.query = base.query;
  } else if (found && !isRelative && !special && !slash.test(rest)) {
    url.opaque = encode(rest, C0);
  } else if ((special && found && !isRelative) || (special ? /^[/\\]{2}/ : /^\/\//).test(rest)) {
    rest = rest.replace(special ? /^[/\\]*/ : /^\/\//, "");
    const authority = (special ? /^[^/\\]*/ : /^[^/]*/).exec(rest)[0];
    parseAuthority(authority, url);
    rest = rest.slice(authority.length);
    if (rest !== "" || special) parsePath(rest.replace(slash, ""), url);
  } else if (isRelative) {
    Object.assign(url, {username: base.username, password: base.password, host: base.host, port: base.port});
    if (!slash.test(rest)) {
      url.path = [...base.path];
      if (rest === "" && query === null) url.query = base.query;
      if (rest !== "") { url.path.pop(); parsePath(rest, url); }
    } else parsePath(rest.slice(1), url);
  } else parsePath(rest.slice(1), url);
  return url;
};

const pathname = url => url.opaque ?? url.path.map(part => "/" + part).join("");
const hostText = url => url.host === null ? "" : url.host + (url.port && ":" + url.port);
const credentials = url => url.username || url.password ? url.username + (url.password && ":" + url.password) + "@" : "";

const serialize = url => {
  const path = pathname(url), start = url.host !== null ? "//" + credentials(url) + hostText(url) : url.opaque === null && path.startsWith("//") ? "/." : "";
  return url.protocol + start + path + (url.query === null ? "" : "?" + url.query) + (url.hash === null ? "" : "#" + url.hash);
};

const formEncode = text => encode(String(text), /[^*\-.0-9A-Z_a-z]/u).replace(/%20/g, "+");
const formDecode = text => decode(text.replace(/\+/g, " "));

let linkedParams;

class URLSearchParams {
  #list = [];
  #changed = () => {};
  constructor(init = "") {
    if (typeof init === "object" && init !== null || typeof init === "function") {
      const pairs = init[Symbol.iterator] ? [...init].map(pair => [...pair]) : Object.entries(init);
      if (pairs.some(pair => pair.length !== 2)) throw new TypeError("URLSearchParams takes pairs of a name and a value");
      this.#list = pairs.map(pair => pair.map(part => String(part).toWellFormed()));
    } else this.#read(String(init).replace(/^\?/, ""));
  }
  static {
    linkedParams = (query, changed) => {
      const params = new URLSearchParams();
      params.#read(query ?? "");
      params.#changed = changed;
      return params;
    };
  }
  #read(query) {
    this.#list = query.split("&").filter(part => part !== "").map(part => {
      const [, name, value = ""] = /^([^=]*)=?([^]*)$/.exec(part);
      return [formDecode(name), formDecode(value)];
    });
  }
  #update(list) { this.#list = list; this.#changed(String(this)); }
  get size() { return this.#list.length; }
  append(name, value) { this.#update([...this.#list, [String(name), String(value)]]); }
  delete(name, value) {
    this.#update(this.#list.filter(pair => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value))));
  }
  get(name) { return this.#list.find(pair => pair[0] === String(name))?.[1] ?? null; }
  getAll(name) { return this.#list.filter(pair => pair[0] === String(name)).map(pair => pair[1]); }
  has(name, value) { return this.#list.some(pair => pair[0] === String(name) && (value === undefined || pair[1] === String(value))); }
  set(name, value) {
    const first = this.#list.findIndex(pair => pair[0] === String(name));
    if (first < 0) return this.append(name, value);
    this.#update(this.#list.filter((pair, at) => at <= first || pair[0] !== String(name)).map((pair, at) => at === first ? [pair[0], String(value)] : pair));
  }
  sort() { this.#update([...this.#list].sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); }
  forEach(call, self) { for (const [name, value] of this) call.call(self, value, name, this); }
  *entries() { for (const pair of this.#list) yield [...pair]; }
  *keys() { for (const pair of this.#list) yield pair[0]; }
  *values() { for (const pair of this.#list) yield pair[1]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#list.map(pair => formEncode(pair[0]) + "=" + formEncode(pair[1])).join("&"); }
  get [Symbol.toStringTag]() { return "URLSearchParams"; }
}

class URL {
  #url;
  #params = null;
  constructor(url, base) {
    this.#url = parse(String(url).toWellFormed(), base === undefined ? null : parse(String(base).toWellFormed(), null));
  }
  static canParse(url, base) { return URL.parse(url, base) !== null; }
  static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
  #try(change) {  // an invalid part is ignored
    const copy = {...this.#url, path: [...this.#url.path]};
    try { change(copy); this.#url = parse(serialize(copy), null); } catch { return; }
    this.#params = null;
  }
  get href() { return serialize(this.#url); }
  set href(value) { this.#url = parse(String(value).toWellFormed(), null); this.#params = null; }
  get origin() {
    const {protocol} = this.#url;
    if (protocol === "blob:") { const inner = URL.parse(this.pathname); return inner && /^https?:$/.test(inner.protocol) ? inner.origin : "null"; }
    return protocol in PORTS && protocol !== "file:" ? protocol + "//" + hostText(this.#url) : "null";
  }
  get protocol() { return this.#url.protocol; }
  set protocol(value) {
    const name = (/^[a-zA-Z][a-zA-Z0-9+.-]*(?=:|$)/.exec(String(value)) ?? [""])[0].toLowerCase() + ":";
    if (name !== ":" && name in PORTS === this.#url.protocol in PORTS) this.#try(url => { url.protocol = name; if (url.port === PORTS[name]) url.port = ""; });
  }
  get username() { return this.#url.username; }
  set username(value) { if (this.#url.host) this.#try(url => { url.username = encode(String(value), USERINFO); }); }
  get password() { return this.#url.password; }
  set password(value) { if (this.#url.host) this.#try(url => { url.password = encode(String(value), USERINFO); }); }
  get host() { return hostText(this.#url); }
  set host(value) { if (this.#url.opaque === null) this.#try(url => { url.port = ""; parseAuthority(String(value).replace(/[/\\?#][^]*$/, "").replace(/@/g, "\0"), url); }); }
  get hostname() { return this.#url.host ?? ""; }
  set hostname(value) { if (this.#url.opaque === null) this.#try(url => { url.host = parseHost(String(value).replace(/[/\\?#][^]*$/, ""), url.protocol in PORTS); }); }
  get port() { return this.#url.port; }
  set port(value) {
    const digits = /^[0-9]*/.exec(String(value))[0];
    if (this.#url.host && (digits || String(value) === "")) this.#try(url => { url.port = digits; });
  }
  get pathname() { return pathname(this.#url); }
  set pathname(value) { if (this.#url.opaque === null) this.#try(url => { url.path = []; parsePath(String(value).replace(url.protocol in PORTS ? /^[/\\]/ : /^\//, ""), url); }); }
  get search() { return this.#url.query ? "?" + this.#url.query : ""; }
  set search(value) {
    const text = String(value).replace(/^\?/, "");
    this.#try(url => { url.query = String(value) === "" ? null : encode(text, url.protocol in PORTS ? SPECIAL_QUERY : QUERY); });
  }
  get searchParams() {
    this.#params ??= linkedParams(this.#url.query, query => { this.#url.query = query === "" ? null : query; });
    return this.#params;
  }
  get hash() { return this.#url.hash ? "#" + this.#url.hash : ""; }
  set hash(value) { this.#try(url => { url.hash = String(value) === "" ? null : encode(String(value).replace(/^#/, ""), FRAGMENT); }); }
  toString() { return this.href; }
  toJSON() { return this.href; }
  get [Symbol.toStringTag]() { return "URL"; }
}
return {names: {URL, URLSearchParams}};
}
