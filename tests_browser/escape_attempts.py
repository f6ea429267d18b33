"""What code in a sandboxed frame may try to reach the network, the hub or the console. `U` is a server, `S` a STUN server.

Each is the body of an async function. `elements(markup)` are the ways to make an element of markup.
"""

from __future__ import annotations

REQUESTS = {
    "fetch": "await fetch(U)",
    "fetch-no-cors": "await fetch(U, {mode: 'no-cors', keepalive: true})",
    "fetch-later": "fetchLater(U, {activateAfter: 0})",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', U); x.send()",
    "xhr-sync": "const x = new XMLHttpRequest(); x.open('GET', U, false); x.send()",
    "websocket": "new WebSocket(U.replace('http', 'ws'))",
    "eventsource": "new EventSource(U)",
    "websocket-stream": "await new WebSocketStream(U.replace('http', 'ws')).opened",
    "webtransport": "await new WebTransport(U.replace('http:', 'https:')).ready",
    "import": "await import(U)",
    "wasm": "await WebAssembly.compileStreaming(fetch(U))",
    "font-face": "await new FontFace('x', `url(${U})`).load()",
    "webrtc": "const c = new RTCPeerConnection({iceServers: [{urls: S}]}); c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer()); await new Promise(r => setTimeout(r, 700))",
    "nested-worker": "const w = new Worker(URL.createObjectURL(new Blob([`fetch('${U}', {mode: 'no-cors'}); new WebSocket('${U.replace('http', 'ws')}'); importScripts('${U}')`])))",
    "worker-url": "new Worker(U)",
    "shared-worker": "new SharedWorker(U)",
    "cache": "await (await caches.open('x')).add(U)",
}
"""In workers and in documents."""

_IN_DOCUMENTS = {
    "beacon": "navigator.sendBeacon(U, 'x')",
    "image": "new Image().src = U",
    "image-attribution": "const i = document.createElement('img'); i.setAttribute('attributionsrc', U); i.src = U; document.body.append(i)",
    "audio": "new Audio(U).play()",
    "video-poster": "const v = document.createElement('video'); v.poster = U; v.src = U; document.body.append(v); v.load()",
    "track": "document.body.insertAdjacentHTML('beforeend', `<video src='data:video/mp4,'><track default src='${U}'></video>`)",
    "srcset": "document.body.insertAdjacentHTML('beforeend', `<picture><source srcset='${U}'><img srcset='${U} 2x'></picture>`)",
    "input-image": "document.body.insertAdjacentHTML('beforeend', `<input type=image src='${U}'>`)",
    "background": "document.body.style.background = `url(${U})`",
    "css": "document.body.insertAdjacentHTML('beforeend', `<style>@import '${U}'; @font-face {font-family: y; src: url('${U}')} * {cursor: url('${U}'), auto; font-family: y; filter: url('${U}#x'); mask: url('${U}#y')}</style>text`)",
    "sheet": "const s = new CSSStyleSheet(); s.replaceSync(`body {background: url('${U}')}`); document.adoptedStyleSheets = [s]",
    "body-background": "document.body.setAttribute('background', U)",
    "svg": "document.body.insertAdjacentHTML('beforeend', `<svg><image href='${U}'/><use href='${U}#x'/><script href='${U}'></script><filter id=f><feImage href='${U}'/></filter><rect filter='url(#f)' width=9 height=9 /></svg>`)",
    "script": "const s = document.createElement('script'); s.src = U; document.body.append(s)",
    "module": "const s = document.createElement('script'); s.type = 'module'; s.textContent = `import '${U}'`; document.body.append(s)",
    "import-map": "const s = document.createElement('script'); s.type = 'importmap'; s.textContent = JSON.stringify({imports: {x: U}}); document.body.append(s); await import('x')",
    "speculation": "const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent = JSON.stringify({prefetch: [{source: 'list', urls: [U], eagerness: 'immediate'}], prerender: [{source: 'list', urls: [U]}]}); document.body.append(s)",
    "worklet": "await CSS.paintWorklet.addModule(U)",
    "audio-worklet": "await new AudioContext().audioWorklet.addModule(U)",
    "webkit-rtc": "const c = new webkitRTCPeerConnection({iceServers: [{urls: S}]}); c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer())",
    "service-worker": "await navigator.serviceWorker.register(U)",
    "form": "const f = document.createElement('form'); f.action = U; document.body.append(f); f.submit()",
    "form-blank": "const f = document.createElement('form'); f.action = U; f.target = '_blank'; document.body.append(f); f.requestSubmit()",
    "open": "window.open(U)",
    "open-js": "window.open('javascript:fetch(\"' + U + '\")')",
    "anchor": "const a = document.createElement('a'); a.href = U; a.ping = U; a.target = '_blank'; document.body.append(a); a.click()",
    "anchor-top": "const a = document.createElement('a'); a.href = U; a.target = '_top'; document.body.append(a); a.click()",
    "top": "top.location = U",
    "parent": "parent.location.replace(U)",
    "sibling": "parent.frames[0].location = U; parent.frames[2].location = U",
    "payment": "await new PaymentRequest([{supportedMethods: U}], {total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()",
    "presentation": "await new PresentationRequest(U).getAvailability()",
    "federated": "await navigator.credentials.get({identity: {providers: [{configURL: U, clientId: 'x'}]}})",
    "notification": "new Notification('x', {icon: U})",
    "stylesheet-instruction": "document.insertBefore(document.createProcessingInstruction('xml-stylesheet', `href='${U}' type='text/css'`), document.documentElement)",
    "base": "const b = document.createElement('base'); b.href = U; document.head.append(b); new Image().src = '/x'",
    "extends": "customElements.define('x-frame', class extends HTMLIFrameElement {}, {extends: 'iframe'}); const f = document.createElement('iframe', {is: 'x-frame'}); document.body.append(f)",
    "extends-link": "customElements.define('x-link', class extends HTMLLinkElement {}, {extends: 'link'}); const l = new (customElements.get('x-link'))(); l.rel = 'preconnect'; l.href = U; document.head.append(l)",
    "object-name": "let n = 0; const l = document.createElement({toString: () => n++ ? 'link' : 'div'}); l.rel = 'preconnect'; l.href = U; document.head.append(l)",
    "prefixed": "const l = document.createElementNS('http://www.w3.org/1999/xhtml', 'h:link'); l.setAttribute('rel', 'preconnect'); l.setAttribute('href', U); document.head.append(l)",
    "create-document": "const d = document.implementation.createDocument('http://www.w3.org/1999/xhtml', 'iframe'); document.body.append(d.documentElement)",
    "html-document": "const l = document.implementation.createHTMLDocument('').createElement('link'); l.rel = 'preconnect'; l.href = U; document.head.append(l)",
    "entity": "const d = new DOMParser().parseFromString(`<!DOCTYPE x [<!ENTITY e \"&#60;h:iframe xmlns:h='http://www.w3.org/1999/xhtml'/>\">]><x>&e;</x>`, 'text/xml'); document.body.append(document.adoptNode(d.documentElement))",
    "write-in-pieces": "document.write('<ifr'); document.write('ame></iframe>')",
    "policy": "trustedTypes.createPolicy('default', {createHTML: x => x}); document.body.innerHTML = '<iframe></iframe>'",
    "policy-name": "const p = trustedTypes.createPolicy('hookline', {createHTML: x => x}); document.body.innerHTML = p.createHTML('<iframe></iframe>')",
}

MAKERS = {
    "create": "const e = document.createElement(NAME); for (const [k, v] of Object.entries(ATTRIBUTES)) e.setAttribute(k, v); document.body.append(e)",
    "create-ns": "const e = document.createElementNS('http://www.w3.org/1999/xhtml', NAME); for (const [k, v] of Object.entries(ATTRIBUTES)) e.setAttribute(k, v); document.body.append(e)",
    "inner-html": "const e = document.createElement('div'); document.body.append(e); e.innerHTML = MARKUP",
    "outer-html": "const e = document.createElement('div'); document.body.append(e); e.outerHTML = MARKUP",
    "adjacent": "document.body.insertAdjacentHTML('beforeend', MARKUP)",
    "template": "const t = document.createElement('template'); t.innerHTML = MARKUP; document.body.append(t.content.cloneNode(true))",
    "parser": "const d = new DOMParser().parseFromString(MARKUP, 'text/html'); document.body.append(...d.head.childNodes, ...d.body.childNodes)",
    "xml-parser": "const d = new DOMParser().parseFromString(`<r xmlns:h='http://www.w3.org/1999/xhtml'>${MARKUP.replace('<', '<h:').replace(/>.*/, '/>')}</r>`, 'text/xml'); document.body.append(document.importNode(d.documentElement, true))",
    "fragment": "document.body.append(document.createRange().createContextualFragment(MARKUP))",
    "write": "document.write(MARKUP)",
    "set-html": "document.body.setHTML(MARKUP, {sanitizer: {elements: ['link', 'iframe', 'div'], attributes: ['rel', 'href', 'crossorigin']}})",
    "set-html-unsafe": "const e = document.createElement('div'); document.body.append(e); e.setHTMLUnsafe(MARKUP)",
    "parse-html-unsafe": "const d = Document.parseHTMLUnsafe(MARKUP); document.body.append(...d.head.childNodes, ...d.body.childNodes)",
    "shadow": "const e = document.createElement('div'); document.body.append(e); e.attachShadow({mode: 'open'}).innerHTML = MARKUP",
    "declarative-shadow": "const e = document.createElement('div'); document.body.append(e); e.setHTMLUnsafe(`<p><template shadowrootmode=open>${MARKUP}</template></p>`)",
    "foreign": "const s = document.createElementNS('http://www.w3.org/2000/svg', 'svg'); document.body.append(s); s.innerHTML = `<style><foreignObject>${MARKUP}</foreignObject></style>`",
    "noscript": "document.body.insertAdjacentHTML('beforeend', `<noscript><p title=\"</noscript>${MARKUP.replaceAll('\"', '')}\"></noscript>`)",
    "command": "document.body.contentEditable = 'true'; document.body.focus(); getSelection().selectAllChildren(document.body); document.execCommand('insertHTML', false, MARKUP)",
    "attribute-node": "const e = document.createElement('div'); const a = document.createAttribute('srcdoc'); a.value = '<script>1</script>'; e.setAttributeNode(a); e.innerHTML = MARKUP",
}

_RTC_IN_REALM = """
const realm = [...Array(window.length).keys()].map(i => window[i]).find(w => { try { return w.RTCPeerConnection } catch { return false } });
if (realm) { const c = new realm.RTCPeerConnection({iceServers: [{urls: S}]}); c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer()); await new Promise(r => setTimeout(r, 300)) }
"""


def _fill(maker: str, name: str, attributes: str, markup: str) -> str:
    return maker.replace("ATTRIBUTES", attributes).replace("NAME", f"'{name}'").replace("MARKUP", markup)


def document_attempts() -> dict[str, str]:
    attempts = {**REQUESTS, **_IN_DOCUMENTS}
    attempts = {name: code + ";" + _RTC_IN_REALM for name, code in attempts.items()}
    for way, maker in MAKERS.items():
        link = "`<link rel=preconnect crossorigin href='${U}'>`"
        attempts[f"preconnect by {way}"] = _fill(maker, "link", "{rel: 'preconnect', crossorigin: '', href: U}", link)
        sheet = "`<link rel=stylesheet href='${U}'>`"
        attempts[f"stylesheet by {way}"] = _fill(maker, "link", "{rel: 'stylesheet', href: U}", sheet)
        frame = "`<iframe></iframe>`"
        attempts[f"realm by {way}"] = _fill(maker, "iframe", "{}", frame) + ";" + _RTC_IN_REALM
        srcdoc = "`<iframe srcdoc=\"<img src='${U}'>\"></iframe>`"
        attempts[f"srcdoc by {way}"] = (
            _fill(maker, "iframe", "{srcdoc: `<img src='${U}'>`}", srcdoc) + ";" + _RTC_IN_REALM
        )
        thing = "`<object data='${U}'></object>`"
        attempts[f"object by {way}"] = _fill(maker, "object", "{data: U}", thing)
        refresh = "`<meta http-equiv=refresh content='0;url=${U}'>`"
        attempts[f"refresh by {way}"] = _fill(
            maker, "meta", "{'http-equiv': 'refresh', content: `0;url=${U}`}", refresh
        )
    return attempts


NAVIGATIONS = {
    "anchor-download": "const a = document.createElement('a'); a.href = U; a.download = 'x'; document.body.append(a); a.click()",
    "location": "location = U",
    "location-data": "location = 'data:text/html,<script>fetch(\"' + U + '\")</script>'",
    "location-blob": "location = URL.createObjectURL(new Blob([`<script>fetch('${U}')</script>`], {type: 'text/html'}))",
    "navigation": "navigation.navigate(U)",
    "hub-page": "location = HUB + '/'",
}
"""Each leaves a frame that has to be made anew."""

FORBIDDEN = {
    "shell document": "return parent.document.title",
    "shell storage": "return parent.localStorage.length",
    "own storage": "return localStorage.length",
    "cookies": "return document.cookie",
    "database": "return await new Promise((yes, no) => { const r = indexedDB.open('x'); r.onsuccess = yes; r.onerror = () => no(r.error) })",
    "api": "return (await fetch(HUB + '/api/v1/me')).status",
    "api-socket": "return await new Promise((yes, no) => { const w = new WebSocket(HUB.replace('http', 'ws') + '/socket.io/?EIO=4&transport=websocket'); w.onopen = yes; w.onerror = no })",
    "sibling document": "return parent.frames[0].document.title",
}
"""Each must raise."""

POISONS = {
    "policy-captured": "for (const name of ['createHTML', 'createScriptURL']) { const before = TrustedTypePolicy.prototype[name]; TrustedTypePolicy.prototype[name] = function (...given) { globalThis.stolen = this; return before.apply(this, given) } }; document.body.innerHTML = '<b>x</b>'; document.body.innerHTML = stolen.createHTML('<iframe></iframe>')",
    "string-replace": "String.prototype.replace = function () { return String(this) }; RegExp.prototype[Symbol.replace] = (text) => text; document.body.insertAdjacentHTML('beforeend', '<iframe></iframe>')",
    "poisoned-exec": "RegExp.prototype.exec = () => null; Object.defineProperty(RegExp.prototype, 'flags', {get: () => ''}); document.body.insertAdjacentHTML('beforeend', '<iframe></iframe>')",
    "poisoned-array": "Array.prototype.slice = () => ['iframe']; Array.prototype[Symbol.iterator] = function* () { yield 'iframe' }; document.body.append(document.createElement('div'))",
    "poisoned-call": "Function.prototype.call = function () { return false }; Function.prototype.apply = Function.prototype.bind = Function.prototype.call; document.body.append(document.createElement('iframe'))",
    "set-has": "Set.prototype.has = () => false; const f = document.createElement('iframe'); document.body.append(f)",
    "string-slice": "String.prototype.slice = () => 'div'; String.prototype.toLowerCase = () => 'div'; const f = document.createElement('iframe'); document.body.append(f)",
}
"""Each replaces what the frame's own code might use, and tries to make a frame."""
