import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Webhook receivers with one fault each. Run: java Receivers.java --list | --fault NAME --port N */
public class Receivers {

    record Fault(String name, String label, String what) { }

    static final List<Fault> FAULTS = List.of(
        new Fault("suffix-path-reaches-handler-past-auth-filter", "must",
            "The auth filter guards exactly /hooks, but the dispatcher also maps /hooks.<extension> to the handler."),
        new Fault("auth-constraint-names-only-post", "must",
            "Credentials are checked for POST only, but the handler serves every method, so an unsigned PUT passes."),
        new Fault("line-ends-lost-before-hmac", "must",
            "The body is read line by line and joined without line ends before the HMAC is computed."),
        new Fault("deposit-amount-parsed-as-long", "must",
            "The atomic deposit amount is parsed as a 64-bit integer; larger amounts are answered 400."),
        new Fault("transaction-hash-limited-to-66-characters", "must",
            "Bean validation limits the blockchain transaction id to 66 characters, so longer hashes get 400."),
        new Fault("verified-signature-cached-without-body", "must",
            "A signature value that was verified once is cached and then accepted with any other body."),
        new Fault("db-connection-leaked-on-invalid-payload", "must",
            "Each signed invalid payload leaks one of 10 database connections; then deliveries wait 30 s and get 500."),
        new Fault("signature-circuit-breaker-fails-open", "must",
            "After 5 wrong signatures in a row a circuit breaker skips signature verification for 15 seconds."),
        new Fault("wallet-creation-answered-201", "must",
            "WALLET notifications are answered 201 Created instead of 200."),
        new Fault("missing-credentials-redirected-to-login", "must",
            "A request without signature or API key header is redirected (302) to /login instead of 401."),
        new Fault("expected-signature-printed-in-401", "must",
            "The 401 answer to a wrong signature contains the signature that would have been correct."),
        new Fault("transaction-id-unique-in-table", "must",
            "A unique constraint on transactionId makes the next CAAS notification of a known transaction fail: 500."),
        new Fault("missing-deposit-hash-used-as-map-key", "must",
            "A deposit without blockchain transaction id is stored under a null map key, which throws: 500."),
        new Fault("request-data-in-shared-servlet-fields", "must",
            "Header values are in fields shared by all requests; another request during the upload replaces them."),
        new Fault("payload-validated-before-credentials", "should",
            "The payload is validated before the credentials, so an unsigned malformed payload gets 400, not 401."));

    static final String PATH = "/hooks";
    static final int LIMIT = 12 * 1024 * 1024;
    static final int DRAIN_LIMIT = 64 * 1024 * 1024;

    static String fault = "none";
    static byte[] secret;
    static byte[] storedApiKey;

    record Reply(int status, String text) { }

    static class Refused extends RuntimeException {
        final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    static boolean has(String name) {
        return fault.equals(name);
    }

    // ---------------------------------------------------------------- server

    public static void main(String[] args) throws IOException {
        int port = 0;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--list" -> {
                    FAULTS.forEach(f -> System.out.println(f.name + "\t" + f.label + "\t" + f.what));
                    return;
                }
                case "--fault" -> fault = args[++i];
                case "--port" -> port = Integer.parseInt(args[++i]);
                default -> throw new IllegalArgumentException("unknown argument " + args[i]);
            }
        }
        if (!has("none") && FAULTS.stream().noneMatch(f -> f.name.equals(fault))) {
            System.err.println("unknown fault " + fault);
            System.exit(2);
        }
        secret = System.getenv("BLIND_SECRET").getBytes(StandardCharsets.UTF_8);
        storedApiKey = System.getenv("BLIND_API_KEY").getBytes(StandardCharsets.UTF_8);

        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 100);
        server.createContext("/", Receivers::handle);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("listening");
    }

    static void handle(HttpExchange exchange) {
        try {
            Reply reply;
            try {
                reply = answer(exchange);
            } catch (Refused e) {
                reply = new Reply(e.status, e.getMessage());
            } catch (IOException e) {
                reply = new Reply(400, "unreadable request body");
            } catch (RuntimeException e) {
                System.err.println("unexpected: " + e);
                reply = new Reply(500, "internal error");
            }
            send(exchange, reply);
        } catch (IOException e) {
            // the sender has gone away
        } finally {
            exchange.close();
        }
    }

    static void send(HttpExchange exchange, Reply reply) throws IOException {
        byte[] text = (reply.text + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(reply.status, -1);
            return;
        }
        exchange.sendResponseHeaders(reply.status, text.length);
        exchange.getResponseBody().write(text);
    }

    static byte[] readBody(HttpExchange exchange) throws IOException {
        InputStream in = exchange.getRequestBody();
        byte[] body = in.readNBytes(LIMIT + 1);
        if (body.length <= LIMIT) {
            return body;
        }
        byte[] waste = new byte[64 * 1024];
        long total = body.length;
        for (int n = in.read(waste); n >= 0 && total < DRAIN_LIMIT; n = in.read(waste)) {
            total += n;
        }
        throw new Refused(413, "payload too large");
    }

    // ---------------------------------------------------------------- one request

    static volatile String fieldApiKey;
    static volatile String fieldSignature;

    static Reply answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        String method = exchange.getRequestMethod();
        String apiKey = single(exchange.getRequestHeaders(), "X-API-KEY");
        String signature = single(exchange.getRequestHeaders(), "X-Service-Signature");
        if (has("request-data-in-shared-servlet-fields")) {
            fieldApiKey = apiKey;
            fieldSignature = signature;
        }
        byte[] body = readBody(exchange);
        if (has("request-data-in-shared-servlet-fields")) {
            apiKey = fieldApiKey;
            signature = fieldSignature;
        }

        if (!isMapped(path)) {
            return new Reply(404, "not found");
        }
        if (!method.equals("POST") && !has("auth-constraint-names-only-post")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            return new Reply(405, "method not allowed");
        }
        if (has("payload-validated-before-credentials")) {
            validate(parse(body));
        }
        if (isGuarded(path, method)) {
            if (has("missing-credentials-redirected-to-login") && (apiKey == null || signature == null)) {
                exchange.getResponseHeaders().set("Location", "/login");
                return new Reply(302, "please log in");
            }
            if (!isApiKeyValid(apiKey)) {
                return new Reply(401, "unauthorized");
            }
            if (!isSignatureValid(signature, body)) {
                if (has("expected-signature-printed-in-401") && signature != null) {
                    return new Reply(401, "signature mismatch: expected " + hmac(body) + " but was " + signature);
                }
                return new Reply(401, "unauthorized");
            }
        }
        Map<?, ?> notification = acceptPayload(body);
        return new Reply(store(notification), "ok");
    }

    static boolean isMapped(String path) {
        if (has("suffix-path-reaches-handler-past-auth-filter")) {
            return path.matches("/hooks(\\.[A-Za-z0-9]+)?");
        }
        return PATH.equals(path);
    }

    static boolean isGuarded(String path, String method) {
        if (has("suffix-path-reaches-handler-past-auth-filter")) {
            return path.equals(PATH);
        }
        if (has("auth-constraint-names-only-post")) {
            return method.equals("POST");
        }
        return true;
    }

    static final Semaphore CONNECTION_POOL = new Semaphore(10);

    static Map<?, ?> acceptPayload(byte[] body) {
        if (has("db-connection-leaked-on-invalid-payload")) {
            try {
                if (!CONNECTION_POOL.tryAcquire(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("connection is not available, request timed out");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            Map<?, ?> notification = validate(parse(body));
            CONNECTION_POOL.release();
            return notification;
        }
        return validate(parse(body));
    }

    // ---------------------------------------------------------------- credentials

    static String single(Headers headers, String name) {
        List<String> values = headers.get(name);
        return values != null && values.size() == 1 ? values.get(0) : null;
    }

    static boolean isApiKeyValid(String given) {
        return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), storedApiKey);
    }

    static String hmac(byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static boolean matches(String given, byte[] body) {
        return given != null && MessageDigest.isEqual(
            given.getBytes(StandardCharsets.UTF_8), hmac(body).getBytes(StandardCharsets.UTF_8));
    }

    static final Set<String> VERIFIED_SIGNATURES = ConcurrentHashMap.newKeySet();

    static boolean isSignatureValid(String given, byte[] body) {
        if (has("line-ends-lost-before-hmac")) {
            StringBuilder text = new StringBuilder();
            new String(body, StandardCharsets.UTF_8).lines().forEach(text::append);
            return matches(given, text.toString().getBytes(StandardCharsets.UTF_8));
        }
        if (has("verified-signature-cached-without-body")) {
            if (given != null && VERIFIED_SIGNATURES.contains(given)) {
                return true;
            }
            boolean valid = matches(given, body);
            if (valid) {
                VERIFIED_SIGNATURES.add(given);
            }
            return valid;
        }
        if (has("signature-circuit-breaker-fails-open")) {
            return Breaker.call(given, body);
        }
        return matches(given, body);
    }

    /** Protects the verifier against "overload"; the fallback answers true. */
    static class Breaker {
        static int failures;
        static long openUntil;

        static synchronized boolean call(String given, byte[] body) {
            if (System.nanoTime() < openUntil) {
                return true;
            }
            if (matches(given, body)) {
                failures = 0;
                return true;
            }
            failures++;
            if (failures == 5) {
                failures = 0;
                openUntil = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
            }
            return false;
        }
    }

    // ---------------------------------------------------------------- payload

    static Object parse(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(body)).toString();
            return new Json(text).document();
        } catch (CharacterCodingException e) {
            throw new Refused(400, "body is not UTF-8");
        }
    }

    static Map<?, ?> validate(Object document) {
        Map<?, ?> root = object(document, "notification");
        filled(root, "id");
        String type = filled(root, "type");
        Object at = root.get("at");
        check(root.containsKey("at"), "at is missing");
        check(at == null || at instanceof String || at instanceof Num n && n.isInteger(), "at has a wrong type");
        Map<?, ?> data = object(root.get("data"), "data");
        switch (type) {
            case "CAAS" -> {
                texts(data, "type", "providerId", "transactionId");
                Map<?, ?> metadata = object(data.get("metadata"), "metadata");
                optionalTexts(metadata, "orderStatus", "orderType", "providerTransactionId",
                    "providerTransactionRef", "providerTransactionStatus", "trackingStateDescription");
                if (metadata.get("blockchainData") != null) {
                    Map<?, ?> chainData = object(metadata.get("blockchainData"), "blockchainData");
                    optionalTexts(chainData, "targetWalletAddress", "blockchainTransactionId", "blockchainMemo",
                        "currency", "chain", "refundWalletAddress", "sourceWalletAddress");
                    checkHash(chainData);
                }
                errorData(data);
            }
            case "REFUND" -> {
                texts(data, "providerId", "transactionId", "status");
                if (data.get("metadata") != null) {
                    Map<?, ?> metadata = object(data.get("metadata"), "metadata");
                    optionalTexts(metadata, "blockchainTransactionId", "amount", "currency", "walletAddress");
                    checkHash(metadata);
                }
                errorData(data);
            }
            case "PAYMENT_METHOD" -> {
                texts(data, "status", "paymentMethodId", "accountId");
                optionalTexts(data, "errorCode");
            }
            case "WALLET" -> {
                texts(data, "operation", "customerId", "walletAddress");
                optionalTexts(data, "assetId", "chain");
            }
            case "CAAS_BLOCKCHAIN" -> {
                texts(data, "type", "status", "partnerTransactionId", "customerId");
                Map<?, ?> metadata = object(data.get("metadata"), "metadata");
                optionalTexts(metadata, "sourceAddress", "destinationAddress",
                    "blockchainTransactionId", "blockchainTransctionId");
                checkHash(metadata);
                if (metadata.get("asset") != null) {
                    Map<?, ?> asset = object(metadata.get("asset"), "asset");
                    optionalTexts(asset, "amount", "currency");
                    checkAmount((String) asset.get("amount"));
                }
            }
            default -> { }
        }
        return root;
    }

    static void checkHash(Map<?, ?> holder) {
        if (has("transaction-hash-limited-to-66-characters")) {
            for (String key : List.of("blockchainTransactionId", "blockchainTransctionId")) {
                check(!(holder.get(key) instanceof String s) || s.length() <= 66, key + ": size must be at most 66");
            }
        }
    }

    static void checkAmount(String amount) {
        if (amount == null || amount.isEmpty()) {
            return;
        }
        check(amount.matches("[0-9]+"), "amount is not a whole number");
        if (has("deposit-amount-parsed-as-long")) {
            try {
                Long.parseLong(amount);
            } catch (NumberFormatException e) {
                throw new Refused(400, "amount is not a number");
            }
        }
    }

    static void errorData(Map<?, ?> data) {
        if (data.get("errorData") != null) {
            optionalTexts(object(data.get("errorData"), "errorData"), "code", "message");
        }
    }

    static void check(boolean condition, String message) {
        if (!condition) {
            throw new Refused(400, message);
        }
    }

    static Map<?, ?> object(Object value, String name) {
        check(value instanceof Map, name + " is not an object");
        return (Map<?, ?>) value;
    }

    static String filled(Map<?, ?> holder, String key) {
        check(holder.get(key) instanceof String s && !s.isBlank(), key + " is not a filled string");
        return (String) holder.get(key);
    }

    static void texts(Map<?, ?> holder, String... keys) {
        for (String key : keys) {
            check(holder.containsKey(key), key + " is missing");
        }
        optionalTexts(holder, keys);
    }

    static void optionalTexts(Map<?, ?> holder, String... keys) {
        for (String key : keys) {
            Object value = holder.get(key);
            check(value == null || value instanceof String, key + " is not a string");
        }
    }

    // ---------------------------------------------------------------- storage

    static final Map<String, String> NOTIFICATION_BY_TRANSACTION = new ConcurrentHashMap<>();
    static final Map<String, String> NOTIFICATION_BY_HASH = new ConcurrentHashMap<>();

    /** Keeps what is needed of a valid notification; the result is the status of the answer. */
    static int store(Map<?, ?> root) {
        String id = (String) root.get("id");
        Map<?, ?> data = (Map<?, ?>) root.get("data");
        if (has("wallet-creation-answered-201") && root.get("type").equals("WALLET")) {
            return 201;
        }
        if (has("transaction-id-unique-in-table") && root.get("type").equals("CAAS")) {
            String previous = NOTIFICATION_BY_TRANSACTION.putIfAbsent("" + data.get("transactionId"), id);
            if (previous != null && !previous.equals(id)) {
                throw new IllegalStateException("duplicate key value violates unique constraint");
            }
        }
        if (has("missing-deposit-hash-used-as-map-key") && root.get("type").equals("CAAS_BLOCKCHAIN")) {
            Map<?, ?> metadata = (Map<?, ?>) data.get("metadata");
            Object hash = metadata.get("blockchainTransactionId");
            if (hash == null) {
                hash = metadata.get("blockchainTransctionId");
            }
            NOTIFICATION_BY_HASH.put((String) hash, id);
        }
        return 200;
    }

    // ---------------------------------------------------------------- JSON

    /** A number in its written form: never expanded, so huge exponents do no harm. */
    record Num(String text) {
        boolean isInteger() {
            return text.matches("-?[0-9]+");
        }
    }

    static class Json {
        static final int MAX_DEPTH = 200;
        final String text;
        int pos;

        Json(String text) {
            this.text = text;
        }

        Object document() {
            Object value = value(0);
            space();
            check(pos == text.length(), "text after the JSON document");
            return value;
        }

        Refused bad() {
            return new Refused(400, "malformed JSON at position " + pos);
        }

        void space() {
            while (pos < text.length() && " \t\r\n".indexOf(text.charAt(pos)) >= 0) {
                pos++;
            }
        }

        char peek() {
            if (pos >= text.length()) {
                throw bad();
            }
            return text.charAt(pos);
        }

        void expect(char c) {
            if (peek() != c) {
                throw bad();
            }
            pos++;
        }

        Object word(String word, Object value) {
            if (!text.startsWith(word, pos)) {
                throw bad();
            }
            pos += word.length();
            return value;
        }

        Object value(int depth) {
            if (depth > MAX_DEPTH) {
                throw bad();
            }
            space();
            return switch (peek()) {
                case '{' -> map(depth);
                case '[' -> list(depth);
                case '"' -> string();
                case 't' -> word("true", Boolean.TRUE);
                case 'f' -> word("false", Boolean.FALSE);
                case 'n' -> word("null", null);
                default -> number();
            };
        }

        Map<String, Object> map(int depth) {
            Map<String, Object> result = new LinkedHashMap<>();
            expect('{');
            space();
            if (peek() == '}') {
                pos++;
                return result;
            }
            while (true) {
                space();
                String key = string();
                space();
                expect(':');
                result.put(key, value(depth + 1));
                space();
                if (peek() == '}') {
                    pos++;
                    return result;
                }
                expect(',');
            }
        }

        List<Object> list(int depth) {
            List<Object> result = new ArrayList<>();
            expect('[');
            space();
            if (peek() == ']') {
                pos++;
                return result;
            }
            while (true) {
                result.add(value(depth + 1));
                space();
                if (peek() == ']') {
                    pos++;
                    return result;
                }
                expect(',');
            }
        }

        String string() {
            StringBuilder result = new StringBuilder();
            expect('"');
            while (peek() != '"') {
                char c = text.charAt(pos++);
                if (c < 0x20) {
                    throw bad();
                }
                result.append(c == '\\' ? escape() : c);
            }
            pos++;
            return result.toString();
        }

        char escape() {
            char c = peek();
            pos++;
            switch (c) {
                case '"', '\\', '/':
                    return c;
                case 'b':
                    return '\b';
                case 'f':
                    return '\f';
                case 'n':
                    return '\n';
                case 'r':
                    return '\r';
                case 't':
                    return '\t';
                case 'u':
                    if (pos + 4 > text.length() || !text.substring(pos, pos + 4).matches("[0-9a-fA-F]{4}")) {
                        throw bad();
                    }
                    pos += 4;
                    return (char) Integer.parseInt(text.substring(pos - 4, pos), 16);
                default:
                    throw bad();
            }
        }

        Num number() {
            int start = pos;
            while (pos < text.length() && "+-.eE0123456789".indexOf(text.charAt(pos)) >= 0) {
                pos++;
            }
            String number = text.substring(start, pos);
            if (!number.matches("-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?")) {
                throw bad();
            }
            return new Num(number);
        }
    }
}
