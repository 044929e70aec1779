import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Webhook receivers: one correct (--fault none) and others with exactly one fault each.
 * Usage: java Receivers.java --list
 *        java Receivers.java --fault NAME --port N   (BLIND_SECRET and BLIND_API_KEY in the environment)
 */
public class Receivers {
    static final String PATH = "/hooks";
    static final int MAX_BODY = 12 * 1024 * 1024;

    record Answer(int status, String text) { }

    record Fault(String label, String what, BiFunction<String, String, Receiver> make) { }

    record JsonNumber(String text) { }

    static class Malformed extends Exception {
        Malformed(String message) {
            super(message);
        }
    }

    static class BadBody extends IOException {
        final int status;

        BadBody(int status) {
            this.status = status;
        }
    }

    static final Answer ACCEPTED = new Answer(200, "{\"received\": true}");
    static final Answer REFUSED = new Answer(401, "{\"error\": \"unauthorized\"}");
    static final Answer NOT_FOUND = new Answer(404, "{\"error\": \"not found\"}");

    /** The correct receiver. A fault is a subclass that replaces one or two methods. */
    static class Receiver implements HttpHandler {
        final String secret;
        final String apiKey;

        Receiver(String secret, String apiKey) {
            this.secret = secret;
            this.apiKey = apiKey;
        }

        ExecutorService executor() {
            return Executors.newCachedThreadPool(Receivers::daemon);
        }

        @Override
        public void handle(HttpExchange exchange) {
            try {
                Answer answer;
                try {
                    byte[] body = readBody(exchange);
                    answer = route(exchange, body);
                } catch (BadBody problem) {
                    exchange.getResponseHeaders().set("Connection", "close");
                    answer = new Answer(problem.status, "{\"error\": \"bad request\"}");
                } catch (RuntimeException | GeneralSecurityException problem) {
                    answer = new Answer(500, "{\"error\": \"internal\"}");
                }
                reply(exchange, answer);
            } catch (IOException gone) {
                // the sender closed the connection
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            } finally {
                exchange.close();
            }
        }

        Answer route(HttpExchange exchange, byte[] body) throws GeneralSecurityException, InterruptedException {
            if (!ownPath(exchange.getRequestURI().getRawPath())) {
                return NOT_FOUND;
            }
            if (!exchange.getRequestMethod().equals("POST")) {
                exchange.getResponseHeaders().set("Allow", "POST");
                return new Answer(405, "{\"error\": \"not allowed\"}");
            }
            return respond(exchange, body);
        }

        boolean ownPath(String path) {
            return PATH.equals(path);
        }

        byte[] readBody(HttpExchange exchange) throws IOException {
            String length = exchange.getRequestHeaders().getFirst("Content-Length");
            if (length != null && exchange.getRequestHeaders().containsKey("Transfer-Encoding")) {
                throw new BadBody(400);
            }
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            byte[] buffer = new byte[16384];
            long size = 0;
            InputStream in = exchange.getRequestBody();
            try {
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    size += count;
                    if (size <= MAX_BODY) {
                        body.write(buffer, 0, count);
                    } else if (size > 4L * MAX_BODY) {
                        break;
                    }
                }
            } catch (IOException problem) {
                throw new BadBody(400);
            }
            if (size > MAX_BODY) {
                throw new BadBody(413);
            }
            if (length != null && !length.trim().equals(String.valueOf(body.size()))) {
                throw new BadBody(400);
            }
            return body.toByteArray();
        }

        void reply(HttpExchange exchange, Answer answer) throws IOException {
            byte[] text = answer.text().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.sendResponseHeaders(answer.status(), -1);
                return;
            }
            exchange.sendResponseHeaders(answer.status(), text.length);
            exchange.getResponseBody().write(text);
        }

        Answer respond(HttpExchange exchange, byte[] body) throws GeneralSecurityException, InterruptedException {
            if (!authentic(exchange, body)) {
                return REFUSED;
            }
            return consume(body);
        }

        Answer consume(byte[] body) {
            try {
                Map<String, Object> payload = new Validator(this).check(Json.parse(body));
                return process(payload);
            } catch (Malformed problem) {
                return new Answer(400, "{\"error\": \"" + problem.getMessage() + "\"}");
            }
        }

        boolean authentic(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
            boolean keyOk = keyOk(header(exchange, "X-API-KEY"));
            boolean signatureOk = signatureOk(header(exchange, "X-Service-Signature"), body);
            return keyOk & signatureOk;
        }

        /** The value of a header that is present exactly once, or null. */
        String header(HttpExchange exchange, String name) {
            List<String> values = exchange.getRequestHeaders().get(name);
            return values == null || values.size() != 1 ? null : values.get(0);
        }

        boolean keyOk(String given) {
            return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8),
                    apiKey.getBytes(StandardCharsets.UTF_8));
        }

        boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            String expected = Base64.getEncoder().encodeToString(digest(body));
            return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8),
                    expected.getBytes(StandardCharsets.UTF_8));
        }

        byte[] digest(byte[] body) throws GeneralSecurityException {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return mac.doFinal(body);
        }

        void checkTime(Object at) throws Malformed {
            boolean whole = at instanceof JsonNumber number && number.text().matches("-?\\d+");
            if (at != null && !whole && !(at instanceof String)) {
                throw new Malformed("at is neither a whole number nor text");
            }
        }

        void checkFreeText(String text) throws Malformed { }

        /** Effects of an accepted notification. */
        Answer process(Map<String, Object> payload) {
            return ACCEPTED;
        }
    }

    /** Required parts have to be present with the right kind; unknown types, statuses and fields pass. */
    static class Validator {
        private final Receiver receiver;

        Validator(Receiver receiver) {
            this.receiver = receiver;
        }

        Map<String, Object> check(Object document) throws Malformed {
            Map<String, Object> payload = object(document, "the payload");
            required(payload, "id", "type");
            receiver.checkTime(payload.get("at"));
            Map<String, Object> data = object(payload.get("data"), "data");
            String type = (String) payload.get("type");
            if ("CAAS".equals(type)) {
                required(data, "type", "transactionId");
                optional(data, "providerId");
                Map<String, Object> metadata = object(data.get("metadata"), "metadata");
                optional(metadata, "orderStatus", "orderType", "providerTransactionId", "providerTransactionRef",
                        "providerTransactionStatus", "trackingStateDescription");
                receiver.checkFreeText((String) metadata.get("trackingStateDescription"));
                optional(part(metadata, "blockchainData"), "targetWalletAddress", "blockchainTransactionId",
                        "blockchainMemo", "currency", "chain", "refundWalletAddress", "sourceWalletAddress");
            } else if ("REFUND".equals(type)) {
                required(data, "transactionId", "status");
                optional(data, "providerId");
                optional(part(data, "metadata"), "blockchainTransactionId", "amount", "currency", "walletAddress");
            } else if ("PAYMENT_METHOD".equals(type)) {
                required(data, "status", "paymentMethodId");
                optional(data, "accountId", "errorCode");
            } else if ("WALLET".equals(type)) {
                required(data, "customerId", "walletAddress");
                optional(data, "operation", "assetId", "chain");
            } else if ("CAAS_BLOCKCHAIN".equals(type)) {
                required(data, "type");
                optional(data, "status", "partnerTransactionId", "customerId");
                Map<String, Object> metadata = object(data.get("metadata"), "metadata");
                optional(metadata, "sourceAddress", "destinationAddress", "blockchainTransactionId",
                        "blockchainTransctionId");
                optional(object(metadata.get("asset"), "asset"), "amount", "currency");
            } else {
                return payload;
            }
            Map<String, Object> error = part(data, "errorData");
            optional(error, "code", "message");
            receiver.checkFreeText((String) error.get("message"));
            return payload;
        }

        private void required(Map<String, Object> owner, String... names) throws Malformed {
            for (String name : names) {
                if (!owner.containsKey(name)) {
                    throw new Malformed(name + " is missing");
                }
            }
            optional(owner, names);
        }

        private void optional(Map<String, Object> owner, String... names) throws Malformed {
            for (String name : names) {
                Object value = owner.get(name);
                if (value != null && !(value instanceof String)) {
                    throw new Malformed(name + " is not text");
                }
            }
        }

        private Map<String, Object> part(Map<String, Object> owner, String name) throws Malformed {
            return owner.get(name) == null ? Map.of() : object(owner.get(name), name);
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value, String name) throws Malformed {
        if (!(value instanceof Map)) {
            throw new Malformed(name + " is not an object");
        }
        return (Map<String, Object>) value;
    }

    /** A text at the end of a path of names, or null. */
    static String text(Map<String, Object> payload, String... names) {
        Object value = payload;
        for (String name : names) {
            value = value instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return value instanceof String text ? text : null;
    }

    // faults -------------------------------------------------------------------------------------------------------

    static final Map<String, Fault> FAULTS = new LinkedHashMap<>();

    static void fault(String name, String label, String what, BiFunction<String, String, Receiver> make) {
        FAULTS.put(name, new Fault(label, what, make));
    }

    static class DifferencesXored extends Receiver {
        DifferencesXored(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            String expected = Base64.getEncoder().encodeToString(digest(body));
            if (given == null || given.length() != expected.length()) {
                return false;
            }
            int difference = 0;
            for (int i = 0; i < expected.length(); i++) {
                difference ^= given.charAt(i) ^ expected.charAt(i);
            }
            return difference == 0;
        }
    }

    static class KeyAsPattern extends Receiver {
        KeyAsPattern(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean keyOk(String given) {
            return given != null && apiKey.matches(given);
        }
    }

    static class CredentialsInFields extends Receiver {
        private String givenKey;
        private String givenSignature;

        CredentialsInFields(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        public void handle(HttpExchange exchange) {
            givenKey = header(exchange, "X-API-KEY");
            givenSignature = header(exchange, "X-Service-Signature");
            super.handle(exchange);
        }

        @Override
        boolean authentic(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
            return keyOk(givenKey) & signatureOk(givenSignature, body);
        }
    }

    static class MessageAsFormat extends Receiver {
        String lastAlert = "";

        MessageAsFormat(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer process(Map<String, Object> payload) {
            String message = text(payload, "data", "errorData", "message");
            if (message != null) {
                lastAlert = String.format("Transaction failed: " + message);
            }
            return ACCEPTED;
        }
    }

    static class ThreeByteText extends Receiver {
        ThreeByteText(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer process(Map<String, Object> payload) {
            insert(payload);
            return ACCEPTED;
        }

        /** Stands for the insert into a table with the three-byte variant of UTF-8. */
        private void insert(Object value) {
            if (value instanceof Map<?, ?> map) {
                map.values().forEach(this::insert);
            } else if (value instanceof List<?> list) {
                list.forEach(this::insert);
            } else if (value instanceof String text && text.codePoints().anyMatch(point -> point > 0xFFFF)) {
                throw new IllegalStateException("Incorrect string value for column");
            }
        }
    }

    static class OneWalletPerCustomer extends Receiver {
        private final Map<String, String> wallets = new ConcurrentHashMap<>();

        OneWalletPerCustomer(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer process(Map<String, Object> payload) {
            String customer = text(payload, "data", "customerId");
            String address = text(payload, "data", "walletAddress");
            if ("WALLET".equals(payload.get("type")) && customer != null && address != null) {
                String earlier = wallets.putIfAbsent(customer, address);
                if (earlier != null && !earlier.equals(address)) {
                    return new Answer(409, "{\"error\": \"the customer already has a wallet\"}");
                }
            }
            return ACCEPTED;
        }
    }

    static class LimitNeverReset extends Receiver {
        private long windowStart = System.nanoTime();
        private int count;

        LimitNeverReset(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer consume(byte[] body) {
            return allowed() ? super.consume(body) : new Answer(429, "{\"error\": \"too many requests\"}");
        }

        private synchronized boolean allowed() {
            long now = System.nanoTime();
            if (now - windowStart > 1_000_000_000L) {
                long windowStart = now;
                int count = 0;
            }
            return ++count <= 200;
        }
    }

    static class FilterOnExactPath extends Receiver {
        FilterOnExactPath(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean ownPath(String path) {
            return path != null && path.startsWith(PATH);
        }

        @Override
        Answer respond(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
            if (exchange.getRequestURI().getRawPath().equals(PATH) && !authentic(exchange, body)) {
                return REFUSED;
            }
            return consume(body);
        }
    }

    static class BreakerLetsThrough extends Receiver {
        private final Deque<Boolean> lastCalls = new ArrayDeque<>();
        private long openUntil = System.nanoTime();

        BreakerLetsThrough(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        synchronized boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            if (System.nanoTime() - openUntil < 0) {
                return fallback();
            }
            boolean ok = super.signatureOk(given, body);
            lastCalls.addLast(ok);
            if (lastCalls.size() > 20) {
                lastCalls.removeFirst();
            }
            if (lastCalls.size() == 20 && lastCalls.stream().filter(call -> !call).count() >= 10) {
                openUntil = System.nanoTime() + 5_000_000_000L;
                lastCalls.clear();
            }
            return ok;
        }

        private boolean fallback() {
            return true;
        }
    }

    static class LoginKeptInThread extends Receiver {
        private static final ThreadLocal<String> CLIENT = new ThreadLocal<>();

        LoginKeptInThread(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        ExecutorService executor() {
            return Executors.newFixedThreadPool(4, Receivers::daemon);
        }

        @Override
        boolean authentic(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
            String key = header(exchange, "X-API-KEY");
            String signature = header(exchange, "X-Service-Signature");
            if (key != null && signature != null) {
                if (!(keyOk(key) & signatureOk(signature, body))) {
                    return false;
                }
                CLIENT.set("platform");
            }
            return CLIENT.get() != null;
        }
    }

    static class DigestsComparedAsText extends Receiver {
        DigestsComparedAsText(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            if (given == null) {
                return false;
            }
            try {
                String received = new String(Base64.getDecoder().decode(given), StandardCharsets.UTF_8);
                String expected = new String(digest(body), StandardCharsets.UTF_8);
                return received.equals(expected);
            } catch (IllegalArgumentException notBase64) {
                return false;
            }
        }
    }

    static class FreeTextOnOneLine extends Receiver {
        FreeTextOnOneLine(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        void checkFreeText(String text) throws Malformed {
            if (text != null && !text.matches(".*")) {
                throw new Malformed("the text is not allowed");
            }
        }
    }

    static class BasicFilterReadsAuthorization extends Receiver {
        private final String adminPassword = UUID.randomUUID().toString();

        BasicFilterReadsAuthorization(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer respond(HttpExchange exchange, byte[] body) throws GeneralSecurityException, InterruptedException {
            String authorization = header(exchange, "Authorization");
            if (authorization != null && !adminLogin(authorization)) {
                return REFUSED;
            }
            return super.respond(exchange, body);
        }

        private boolean adminLogin(String authorization) {
            String login = Base64.getEncoder().encodeToString(("admin:" + adminPassword)
                    .getBytes(StandardCharsets.UTF_8));
            return authorization.equals("Basic " + login);
        }
    }

    static class NoLengthIsPing extends Receiver {
        NoLengthIsPing(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer respond(HttpExchange exchange, byte[] body) throws GeneralSecurityException, InterruptedException {
            if (header(exchange, "Content-Length") == null) {
                return new Answer(200, "{\"status\": \"up\"}");
            }
            return super.respond(exchange, body);
        }
    }

    static class ClientVerifyHeader extends Receiver {
        ClientVerifyHeader(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean authentic(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
            if ("SUCCESS".equals(header(exchange, "X-SSL-Client-Verify"))
                    || "SUCCESS".equals(header(exchange, "SSL-Client-Verify"))) {
                return true;
            }
            return super.authentic(exchange, body);
        }
    }

    static class StaleDatabaseConnection extends Receiver {
        private long connectedAt;
        private boolean connected;

        StaleDatabaseConnection(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        synchronized Answer process(Map<String, Object> payload) {
            if (!connected) {
                connected = true;
                connectedAt = System.nanoTime();
            } else if (System.nanoTime() - connectedAt > 8_000_000_000L) {
                connected = false;
                throw new IllegalStateException("the database closed the connection");
            }
            return ACCEPTED;
        }
    }

    static class TimeWithMillisecondsOnly extends Receiver {
        private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX");

        TimeWithMillisecondsOnly(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        void checkTime(Object at) throws Malformed {
            super.checkTime(at);
            if (at instanceof String text) {
                try {
                    OffsetDateTime.parse(text, TIME);
                } catch (DateTimeParseException problem) {
                    throw new Malformed("at is not a time");
                }
            }
        }
    }

    static class PermitLostOnRefusal extends Receiver {
        private final Semaphore connections = new Semaphore(16);

        PermitLostOnRefusal(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        Answer respond(HttpExchange exchange, byte[] body) throws GeneralSecurityException, InterruptedException {
            connections.acquire();
            if (!authentic(exchange, body)) {
                return REFUSED;
            }
            Answer answer = consume(body);
            connections.release();
            return answer;
        }
    }

    static class MimeDecoder extends Receiver {
        MimeDecoder(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            try {
                return given != null && MessageDigest.isEqual(Base64.getMimeDecoder().decode(given), digest(body));
            } catch (IllegalArgumentException notBase64) {
                return false;
            }
        }
    }

    static class PlainEquals extends Receiver {
        PlainEquals(String secret, String apiKey) {
            super(secret, apiKey);
        }

        @Override
        boolean signatureOk(String given, byte[] body) throws GeneralSecurityException {
            return Base64.getEncoder().encodeToString(digest(body)).equals(given);
        }
    }

    static {
        fault("differences-xored", "must",
                "The constant-time loop combines the differences with ^= instead of |=, so wrong signatures whose "
                + "differences cancel out (two characters swapped) are accepted.", DifferencesXored::new);
        fault("key-as-pattern", "must",
                "The arguments of matches() are the wrong way round, so the given API key is a regular expression: .* "
                + "is accepted, an invalid expression gives 500.", KeyAsPattern::new);
        fault("credentials-in-fields", "must",
                "The credentials of a request are kept in fields of the shared handler while the body is read, so an "
                + "overlapping request replaces them.", CredentialsInFields::new);
        fault("message-as-format", "must",
                "The error message of a notification is part of a format string, so a percent sign in it raises (500).",
                MessageAsFormat::new);
        fault("three-byte-text", "must",
                "The table stores only three-byte UTF-8, so a payload with a character beyond U+FFFF gives 500.",
                ThreeByteText::new);
        fault("one-wallet-per-customer", "must",
                "Only one wallet per customer is stored; the notification of the customer's second wallet gets 409.",
                OneWalletPerCustomer::new);
        fault("limit-never-reset", "must",
                "The reset of the rate limit sets two shadowing local variables, so after 200 deliveries every "
                + "delivery gets 429 for ever.", LimitNeverReset::new);
        fault("filter-on-exact-path", "must",
                "The credentials are checked for the path /hooks only, but the handler serves every path with that "
                + "prefix.", FilterOnExactPath::new);
        fault("breaker-lets-through", "must",
                "A circuit breaker around the signature check counts refusals as failures and, when open, its fallback "
                + "takes every signature as valid.", BreakerLetsThrough::new);
        fault("login-kept-in-thread", "must",
                "The login in a thread-local variable is never cleared, so a request without a credential header is "
                + "accepted on a pool thread that served a valid one.", LoginKeptInThread::new);
        fault("digests-compared-as-text", "must",
                "Both digests are turned into UTF-8 text before the comparison; all invalid bytes become the same "
                + "character, so many altered signatures are accepted.", DigestsComparedAsText::new);
        fault("free-text-on-one-line", "must",
                "Free texts have to match '.*' where the dot excludes line breaks, so a message or description with a "
                + "line break gets 400.", FreeTextOnOneLine::new);
        fault("basic-filter-reads-authorization", "must",
                "The login filter of the admin pages also runs here and refuses deliveries that carry an Authorization "
                + "header as a custom header.", BasicFilterReadsAuthorization::new);
        fault("no-length-is-ping", "must",
                "A request without Content-Length is taken as a ping and answered 200, also when it has a chunked "
                + "body.", NoLengthIsPing::new);
        fault("client-verify-header", "must",
                "The header with which a TLS proxy reports a verified client certificate (SSL-Client-Verify: SUCCESS) "
                + "is believed from everybody and replaces key and signature.", ClientVerifyHeader::new);
        fault("stale-database-connection", "must",
                "The database closes connections after 8 seconds and the next delivery fails with 500 before the "
                + "receiver connects again.", StaleDatabaseConnection::new);
        fault("time-with-milliseconds-only", "must",
                "The pattern for text times allows no fraction or exactly three digits, so times with micro- or "
                + "nanoseconds get 400.", TimeWithMillisecondsOnly::new);
        fault("permit-lost-on-refusal", "must",
                "A permit of the connection pool is not given back when a request is refused; after 16 refusals every "
                + "request waits for ever.", PermitLostOnRefusal::new);
        fault("mime-decoder", "should",
                "The signature is decoded with the MIME decoder, which ignores line breaks and foreign characters.",
                MimeDecoder::new);
        fault("plain-equals", "blind",
                "The signature is compared with String.equals and not in constant time.", PlainEquals::new);
    }

    // JSON ---------------------------------------------------------------------------------------------------------

    static class Json {
        private final String text;
        private int position;

        private Json(String text) {
            this.text = text;
        }

        static Object parse(byte[] body) throws Malformed {
            try {
                Json json = new Json(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
                Object value = json.value(0);
                json.space();
                if (json.position != json.text.length()) {
                    throw new Malformed("not JSON");
                }
                return value;
            } catch (CharacterCodingException problem) {
                throw new Malformed("not UTF-8");
            }
        }

        private void space() {
            while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
                position++;
            }
        }

        private char next() throws Malformed {
            if (position >= text.length()) {
                throw new Malformed("not JSON");
            }
            return text.charAt(position++);
        }

        private boolean skip(char wanted) {
            space();
            if (position < text.length() && text.charAt(position) == wanted) {
                position++;
                return true;
            }
            return false;
        }

        private void expect(char wanted) throws Malformed {
            if (!skip(wanted)) {
                throw new Malformed("not JSON");
            }
        }

        private Object value(int depth) throws Malformed {
            if (depth > 300) {
                throw new Malformed("nested too deeply");
            }
            if (skip('{')) {
                Map<String, Object> map = new LinkedHashMap<>();
                if (skip('}')) {
                    return map;
                }
                do {
                    expect('"');
                    String name = string();
                    expect(':');
                    map.put(name, value(depth + 1));
                } while (skip(','));
                expect('}');
                return map;
            }
            if (skip('[')) {
                List<Object> list = new ArrayList<>();
                if (skip(']')) {
                    return list;
                }
                do {
                    list.add(value(depth + 1));
                } while (skip(','));
                expect(']');
                return list;
            }
            if (skip('"')) {
                return string();
            }
            int start = position;
            while (position < text.length() && ",]} \t\r\n".indexOf(text.charAt(position)) < 0) {
                position++;
            }
            String word = text.substring(start, position);
            switch (word) {
                case "true":
                    return Boolean.TRUE;
                case "false":
                    return Boolean.FALSE;
                case "null":
                    return null;
                default:
                    if (word.length() > 2000 || !word.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
                        throw new Malformed("not JSON");
                    }
                    return new JsonNumber(word);
            }
        }

        private String string() throws Malformed {
            StringBuilder result = new StringBuilder();
            for (char c = next(); c != '"'; c = next()) {
                if (c < ' ') {
                    throw new Malformed("not JSON");
                }
                result.append(c == '\\' ? escaped() : c);
            }
            return result.toString();
        }

        private char escaped() throws Malformed {
            char c = next();
            int place = "\"\\/bfnrt".indexOf(c);
            if (place >= 0) {
                return "\"\\/\b\f\n\r\t".charAt(place);
            }
            if (c != 'u' || position + 4 > text.length()) {
                throw new Malformed("not JSON");
            }
            String digits = text.substring(position, position + 4);
            if (!digits.matches("[0-9a-fA-F]{4}")) {
                throw new Malformed("not JSON");
            }
            position += 4;
            return (char) Integer.parseInt(digits, 16);
        }
    }

    // server -------------------------------------------------------------------------------------------------------

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    public static void main(String[] arguments) throws IOException {
        String name = "none";
        int port = 0;
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--list" -> {
                    FAULTS.forEach((key, entry) -> System.out.println(key + "\t" + entry.label() + "\t"
                            + entry.what()));
                    return;
                }
                case "--fault" -> name = arguments[++i];
                case "--port" -> port = Integer.parseInt(arguments[++i]);
                default -> throw new IllegalArgumentException(arguments[i]);
            }
        }
        if (!name.equals("none") && !FAULTS.containsKey(name)) {
            throw new IllegalArgumentException("unknown fault " + name);
        }
        String secret = System.getenv("BLIND_SECRET");
        String apiKey = System.getenv("BLIND_API_KEY");
        Receiver receiver = name.equals("none") ? new Receiver(secret, apiKey)
                : FAULTS.get(name).make().apply(secret, apiKey);
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 128);
        server.createContext("/", receiver);
        server.setExecutor(receiver.executor());
        server.start();
        System.out.println("listening");
    }
}
