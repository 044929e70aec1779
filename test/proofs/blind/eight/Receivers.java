// Webhook receiver with switchable faults. Java 17, standard library only.
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receivers {
    static final String[][] FAULTS = {
        {"letter-case", "must",
            "The signature is compared without regard to upper and lower case."},
        {"joined-lines", "must",
            "The body is read line by line and joined, so line breaks are missing when the HMAC is computed."},
        {"bearer-key", "must",
            "Without an API key header the key is also accepted as bearer token in Authorization."},
        {"charset-lookup", "must",
            "The charset of Content-Type is looked up before any check; an unknown name is answered 500."},
        {"format-log", "must",
            "The text of a log line with memo, description or message is used as format; a percent sign gives 500."},
        {"column-width", "must",
            "Free texts (description, error message) over 255 characters do not fit the column; answer 500."},
        {"undrained", "must",
            "A wrong or missing API key is answered before the body is read, and the connection is kept open."},
        {"small-pool", "must",
            "Twenty threads serve one connection each, so twenty idle or stalled connections block all others."},
        {"deep-recursion", "must",
            "The JSON parser recurses without limit; a deeply nested payload kills the thread without an answer."},
        {"long-amount", "must",
            "The atomic amount of a deposit is parsed as a 64-bit number; a larger amount is answered 500."},
        {"order-of-members", "must",
            "The payload is refused with 422 when data comes before type in the envelope."},
        {"ledger-deposit", "must",
            "A deposit without a transaction hash in either spelling is refused with 422."},
        {"created-status", "must",
            "The creation of a wallet is answered 201 instead of 200."},
        {"https-redirect", "must",
            "A request with X-Forwarded-Proto http is redirected to https."},
        {"code-pattern", "must",
            "Error codes must have three digits in the middle group; 152-99-S2 is refused with 422."},
        {"plain-content-type", "should",
            "Content-Type must be exactly application/json; with a charset parameter the answer is 415."},
    };

    static final int LIMIT = 10 * 1024 * 1024;
    static final long DRAIN_LIMIT = 64L * 1024 * 1024;
    static final int HEAD_LIMIT = 64 * 1024;
    static final int READ_TIMEOUT = 30000;
    static final int KEEP = 20000;
    static final String PATH = "/hooks";

    static String faultName = "none";
    static byte[] secret;
    static byte[] apiKey;

    static boolean fault(String name) {
        return faultName.equals(name);
    }

    // ------------------------------------------------------------ JSON

    static final class Num {
        final String text;

        Num(String text) {
            this.text = text;
        }

        boolean isInteger() {
            return text.indexOf('.') < 0 && text.indexOf('e') < 0 && text.indexOf('E') < 0;
        }
    }

    static final class BadJson extends Exception {
        private static final long serialVersionUID = 1L;

        BadJson(String message) {
            super(message);
        }
    }

    static final class Json {
        private static final int MAX_DEPTH = 400;
        private final String s;
        private int pos;

        private Json(String s) {
            this.s = s;
        }

        static Object parse(String text) throws BadJson {
            Json json = new Json(text);
            json.space();
            Object value = json.value(0);
            json.space();
            if (json.pos != text.length()) {
                throw new BadJson("trailing characters");
            }
            return value;
        }

        private void space() {
            while (pos < s.length()) {
                char c = s.charAt(pos);
                if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
                    return;
                }
                pos++;
            }
        }

        private char peek() throws BadJson {
            if (pos >= s.length()) {
                throw new BadJson("unexpected end");
            }
            return s.charAt(pos);
        }

        private Object value(int depth) throws BadJson {
            if (depth > MAX_DEPTH && !fault("deep-recursion")) {
                throw new BadJson("nested too deeply");
            }
            char c = peek();
            switch (c) {
                case '{':
                    return object(depth);
                case '[':
                    return array(depth);
                case '"':
                    return string();
                case 't':
                    return word("true", Boolean.TRUE);
                case 'f':
                    return word("false", Boolean.FALSE);
                case 'n':
                    return word("null", null);
                default:
                    return number();
            }
        }

        private Object word(String word, Object value) throws BadJson {
            if (!s.startsWith(word, pos)) {
                throw new BadJson("unexpected word");
            }
            pos += word.length();
            return value;
        }

        private Map<String, Object> object(int depth) throws BadJson {
            Map<String, Object> map = new LinkedHashMap<>();
            pos++;
            space();
            if (peek() == '}') {
                pos++;
                return map;
            }
            while (true) {
                if (peek() != '"') {
                    throw new BadJson("name expected");
                }
                String name = string();
                space();
                if (peek() != ':') {
                    throw new BadJson("colon expected");
                }
                pos++;
                space();
                map.put(name, value(depth + 1));
                space();
                char c = peek();
                pos++;
                if (c == '}') {
                    return map;
                }
                if (c != ',') {
                    throw new BadJson("comma expected");
                }
                space();
            }
        }

        private List<Object> array(int depth) throws BadJson {
            List<Object> list = new ArrayList<>();
            pos++;
            space();
            if (peek() == ']') {
                pos++;
                return list;
            }
            while (true) {
                list.add(value(depth + 1));
                space();
                char c = peek();
                pos++;
                if (c == ']') {
                    return list;
                }
                if (c != ',') {
                    throw new BadJson("comma expected");
                }
                space();
            }
        }

        private String string() throws BadJson {
            pos++;
            StringBuilder out = new StringBuilder();
            while (true) {
                char c = peek();
                pos++;
                if (c == '"') {
                    return out.toString();
                }
                if (c < 0x20) {
                    throw new BadJson("control character");
                }
                out.append(c == '\\' ? escape() : c);
            }
        }

        private char escape() throws BadJson {
            char c = peek();
            pos++;
            switch (c) {
                case '"':
                case '\\':
                case '/':
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
                    int code = 0;
                    for (int i = 0; i < 4; i++) {
                        char h = peek();
                        int digit = h < 128 ? Character.digit(h, 16) : -1;
                        if (digit < 0) {
                            throw new BadJson("bad escape");
                        }
                        code = code * 16 + digit;
                        pos++;
                    }
                    return (char) code;
                default:
                    throw new BadJson("bad escape");
            }
        }

        private boolean digit() {
            return pos < s.length() && s.charAt(pos) >= '0' && s.charAt(pos) <= '9';
        }

        private void digits() throws BadJson {
            if (!digit()) {
                throw new BadJson("digit expected");
            }
            while (digit()) {
                pos++;
            }
        }

        private Num number() throws BadJson {
            int start = pos;
            if (peek() == '-') {
                pos++;
            }
            if (peek() == '0') {
                pos++;
            } else {
                digits();
            }
            if (pos < s.length() && s.charAt(pos) == '.') {
                pos++;
                digits();
            }
            if (pos < s.length() && (s.charAt(pos) == 'e' || s.charAt(pos) == 'E')) {
                pos++;
                if (pos < s.length() && (s.charAt(pos) == '+' || s.charAt(pos) == '-')) {
                    pos++;
                }
                digits();
            }
            return new Num(s.substring(start, pos));
        }
    }

    // ------------------------------------------------------------ answers

    static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        final int status;
        boolean close;
        String header;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }

        Refused closing() {
            close = true;
            return this;
        }

        Refused with(String line) {
            header = line;
            return this;
        }
    }

    static String reason(int status) {
        switch (status) {
            case 200: return "OK";
            case 201: return "Created";
            case 308: return "Permanent Redirect";
            case 400: return "Bad Request";
            case 401: return "Unauthorized";
            case 404: return "Not Found";
            case 405: return "Method Not Allowed";
            case 408: return "Request Timeout";
            case 413: return "Content Too Large";
            case 415: return "Unsupported Media Type";
            case 417: return "Expectation Failed";
            case 422: return "Unprocessable Content";
            case 431: return "Request Header Fields Too Large";
            case 501: return "Not Implemented";
            case 505: return "HTTP Version Not Supported";
            default: return "Internal Server Error";
        }
    }

    static void answer(OutputStream out, Request request, int status, String name, String value, String header,
            boolean close) throws IOException {
        byte[] body = ("{\"" + name + "\":\"" + value + "\"}").getBytes(StandardCharsets.UTF_8);
        StringBuilder head = new StringBuilder(200);
        head.append("HTTP/1.1 ").append(status).append(' ').append(reason(status)).append("\r\n");
        head.append("Content-Type: application/json\r\nContent-Length: ").append(body.length).append("\r\n");
        if (header != null) {
            head.append(header).append("\r\n");
        }
        if (close) {
            head.append("Connection: close\r\n");
        } else if (request != null && request.version.equals("HTTP/1.0")) {
            head.append("Connection: keep-alive\r\n");
        }
        head.append("\r\n");
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        if (request == null || !request.method.equals("HEAD")) {
            all.write(body);
        }
        out.write(all.toByteArray());
        out.flush();
    }

    // ------------------------------------------------------------ HTTP requests

    static final class Request {
        String method = "";
        String path = "";
        String version = "HTTP/1.1";
        final Map<String, List<String>> headers = new HashMap<>();
        boolean keepAlive;
        boolean chunked;
        long length;
        byte[] body = new byte[0];

        List<String> all(String name) {
            return headers.getOrDefault(name, Collections.emptyList());
        }

        String single(String name) {
            List<String> values = all(name);
            return values.size() == 1 ? values.get(0) : null;
        }
    }

    static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    static final Pattern ABSOLUTE = Pattern.compile("(?i)^https?://[^/?#]*");

    static String line(InputStream in, int limit, int tooLong) throws IOException, Refused {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new EOFException();
            }
            if (c == '\r') {
                int next = in.read();
                if (next < 0) {
                    throw new EOFException();
                }
                if (next != '\n') {
                    throw new Refused(400, "bad line end").closing();
                }
                return bytes.toString(StandardCharsets.ISO_8859_1);
            }
            if (c == '\n' || c == 0) {
                throw new Refused(400, "bad character").closing();
            }
            if (bytes.size() >= limit) {
                throw new Refused(tooLong, "line too long").closing();
            }
            bytes.write(c);
        }
    }

    static String trim(String value) {
        int from = 0;
        int to = value.length();
        while (from < to && (value.charAt(from) == ' ' || value.charAt(from) == '\t')) {
            from++;
        }
        while (to > from && (value.charAt(to - 1) == ' ' || value.charAt(to - 1) == '\t')) {
            to--;
        }
        return value.substring(from, to);
    }

    static void readHead(InputStream in, Request request) throws IOException, Refused {
        String first = line(in, HEAD_LIMIT, 431);
        if (first.isEmpty()) {
            first = line(in, HEAD_LIMIT, 431);
        }
        String[] parts = first.split(" ", -1);
        if (parts.length != 3 || !TOKEN.matcher(parts[0]).matches() || parts[1].isEmpty()) {
            throw new Refused(400, "bad request line").closing();
        }
        if (!parts[2].equals("HTTP/1.1") && !parts[2].equals("HTTP/1.0")) {
            throw new Refused(parts[2].startsWith("HTTP/") ? 505 : 400, "bad version").closing();
        }
        request.method = parts[0];
        request.version = parts[2];
        String target = ABSOLUTE.matcher(parts[1]).replaceFirst("");
        int query = target.indexOf('?');
        request.path = query < 0 ? target : target.substring(0, query);
        int size = first.length();
        for (int count = 0; ; count++) {
            String text = line(in, HEAD_LIMIT, 431);
            if (text.isEmpty()) {
                break;
            }
            size += text.length();
            if (size > HEAD_LIMIT || count >= 300) {
                throw new Refused(431, "head too large").closing();
            }
            int colon = text.indexOf(':');
            if (colon < 1 || !TOKEN.matcher(text.substring(0, colon)).matches()) {
                throw new Refused(400, "bad header line").closing();
            }
            String name = text.substring(0, colon).toLowerCase(Locale.ROOT);
            request.headers.computeIfAbsent(name, k -> new ArrayList<>(1)).add(trim(text.substring(colon + 1)));
        }
        readFraming(request);
    }

    static void readFraming(Request request) throws Refused {
        int hosts = request.all("host").size();
        boolean old = request.version.equals("HTTP/1.0");
        if (hosts > 1 || hosts == 0 && !old) {
            throw new Refused(400, "bad host").closing();
        }
        String connection = String.join(",", request.all("connection")).toLowerCase(Locale.ROOT);
        request.keepAlive = old ? connection.contains("keep-alive") : !connection.contains("close");
        List<String> lengths = request.all("content-length");
        List<String> codings = request.all("transfer-encoding");
        if (!codings.isEmpty()) {
            if (!lengths.isEmpty() || old) {
                throw new Refused(400, "ambiguous length").closing();
            }
            if (codings.size() > 1 || !codings.get(0).equalsIgnoreCase("chunked")) {
                throw new Refused(501, "unknown transfer coding").closing();
            }
            request.chunked = true;
        } else if (!lengths.isEmpty()) {
            String value = lengths.get(0);
            if (lengths.size() > 1 || !value.matches("[0-9]+")) {
                throw new Refused(400, "bad length").closing();
            }
            request.length = value.length() > 15 ? Long.MAX_VALUE : Long.parseLong(value);
            if (request.length > DRAIN_LIMIT) {
                throw new Refused(413, "body too large").closing();
            }
        }
        String expect = request.single("expect");
        if (!request.all("expect").isEmpty() && !"100-continue".equalsIgnoreCase(expect)) {
            throw new Refused(417, "unknown expectation").closing();
        }
    }

    static void copy(InputStream in, long count, ByteArrayOutputStream out) throws IOException {
        byte[] buffer = new byte[(int) Math.min(count, 65536)];
        long left = count;
        while (left > 0) {
            int n = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (n < 0) {
                throw new EOFException();
            }
            if (out.size() + (long) n <= LIMIT + 1L) {
                out.write(buffer, 0, n);
            } else {
                out.write(buffer, 0, Math.max(0, LIMIT + 1 - out.size()));
            }
            left -= n;
        }
    }

    static void readBody(InputStream in, OutputStream answers, Request request) throws IOException, Refused {
        boolean some = request.chunked || request.length > 0;
        if (some && !request.all("expect").isEmpty() && request.version.equals("HTTP/1.1")) {
            answers.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            answers.flush();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream((int) Math.min(request.length + 16, 65536));
        if (request.chunked) {
            long total = 0;
            while (true) {
                String text = line(in, 4096, 400);
                int semicolon = text.indexOf(';');
                String digits = trim(semicolon < 0 ? text : text.substring(0, semicolon));
                if (!digits.matches("[0-9A-Fa-f]{1,15}")) {
                    throw new Refused(400, "bad chunk").closing();
                }
                long size = Long.parseLong(digits, 16);
                total += size;
                if (size > DRAIN_LIMIT || total > DRAIN_LIMIT) {
                    throw new Refused(413, "body too large").closing();
                }
                if (size == 0) {
                    break;
                }
                copy(in, size, body);
                if (in.read() != '\r' || in.read() != '\n') {
                    throw new Refused(400, "bad chunk").closing();
                }
            }
            for (int count = 0; !line(in, 8192, 431).isEmpty(); count++) {
                if (count > 100) {
                    throw new Refused(431, "trailer too large").closing();
                }
            }
        } else {
            copy(in, request.length, body);
        }
        if (body.size() > LIMIT) {
            throw new Refused(413, "body too large");
        }
        request.body = body.toByteArray();
    }

    // ------------------------------------------------------------ credentials

    static boolean keyMatches(Request request) throws GeneralSecurityException {
        String given = request.single("x-api-key");
        if (fault("bearer-key") && request.all("x-api-key").isEmpty()) {
            String other = request.single("authorization");
            if (other != null && other.regionMatches(true, 0, "Bearer ", 0, 7)) {
                given = trim(other.substring(7));
            }
        }
        if (given == null) {
            return false;
        }
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        byte[] left = sha.digest(given.getBytes(StandardCharsets.ISO_8859_1));
        return MessageDigest.isEqual(left, sha.digest(apiKey));
    }

    static boolean signatureMatches(Request request) throws GeneralSecurityException {
        String given = request.single("x-service-signature");
        if (given == null) {
            return false;
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        String expected = Base64.getEncoder().encodeToString(mac.doFinal(request.body));
        if (fault("letter-case")) {
            return expected.equalsIgnoreCase(given);
        }
        return MessageDigest.isEqual(expected.getBytes(StandardCharsets.ISO_8859_1),
            given.getBytes(StandardCharsets.ISO_8859_1));
    }

    static byte[] joinLines(byte[] body) {
        InputStreamReader reader =
            new InputStreamReader(new ByteArrayInputStream(body), StandardCharsets.ISO_8859_1);
        String text = new BufferedReader(reader).lines().collect(Collectors.joining());
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    // ------------------------------------------------------------ payload

    static final Pattern MOMENT = Pattern.compile(
        "\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}(:\\d{2}([.,]\\d+)?)?([Zz]|[+-]\\d{2}(:?\\d{2})?)");
    static final Pattern DECIMAL = Pattern.compile("-?\\d+(\\.\\d+)?");
    static final Pattern WHOLE = Pattern.compile("\\d+");
    static final Pattern CODE = Pattern.compile("\\d{3}-\\d{3}-[A-Z]\\d");

    static final Map<String, String> processed = bounded();
    static final Map<String, Object> balances = bounded();
    static final List<String> log = Collections.synchronizedList(new ArrayList<>());

    static <V> Map<String, V> bounded() {
        return Collections.synchronizedMap(new LinkedHashMap<String, V>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
                return size() > KEEP;
            }
        });
    }

    static void need(boolean condition, String message) throws Refused {
        if (!condition) {
            throw new Refused(422, message);
        }
    }

    static String text(Map<String, Object> part, String name) throws Refused {
        Object value = part.get(name);
        need(value == null || value instanceof String, name + " must be a string");
        return (String) value;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> part(Map<String, Object> owner, String name) throws Refused {
        Object value = owner.get(name);
        need(value == null || value instanceof Map, name + " must be an object");
        return value == null ? Collections.emptyMap() : (Map<String, Object>) value;
    }

    static void texts(Map<String, Object> part, String... names) throws Refused {
        for (String name : names) {
            text(part, name);
        }
    }

    static void checkCode(String code) throws Refused {
        if (fault("code-pattern") && code != null) {
            need(CODE.matcher(code).matches(), "malformed error code");
        }
    }

    static void column(String value) {
        if (fault("column-width") && value != null && value.length() > 255) {
            throw new IllegalStateException("value too long for type character varying(255)");
        }
    }

    static String checkError(Map<String, Object> data) throws Refused {
        Map<String, Object> error = part(data, "errorData");
        checkCode(text(error, "code"));
        String message = text(error, "message");
        column(message);
        return message == null ? "" : message;
    }

    static String checkCaas(Map<String, Object> data) throws Refused {
        need(data.containsKey("type"), "data.type is missing");
        need(data.containsKey("metadata"), "metadata is missing");
        texts(data, "type", "providerId", "transactionId");
        Map<String, Object> meta = part(data, "metadata");
        texts(meta, "orderStatus", "orderType", "providerTransactionId", "providerTransactionRef",
            "providerTransactionStatus");
        String description = text(meta, "trackingStateDescription");
        column(description);
        Map<String, Object> chain = part(meta, "blockchainData");
        texts(chain, "targetWalletAddress", "blockchainTransactionId", "currency", "chain", "refundWalletAddress",
            "sourceWalletAddress");
        String memo = text(chain, "blockchainMemo");
        return checkError(data) + (description == null ? "" : description) + (memo == null ? "" : memo);
    }

    static String checkRefund(Map<String, Object> data) throws Refused {
        texts(data, "providerId", "transactionId", "status");
        Map<String, Object> meta = part(data, "metadata");
        texts(meta, "blockchainTransactionId", "currency", "walletAddress");
        String amount = text(meta, "amount");
        need(amount == null || DECIMAL.matcher(amount).matches(), "amount must be a decimal");
        return checkError(data);
    }

    static String checkDeposit(Map<String, Object> data) throws Refused {
        texts(data, "type", "status", "partnerTransactionId", "customerId");
        Map<String, Object> meta = part(data, "metadata");
        texts(meta, "sourceAddress", "destinationAddress");
        String right = text(meta, "blockchainTransactionId");
        String misspelt = text(meta, "blockchainTransctionId");
        String hash = right != null ? right : misspelt;
        if (fault("ledger-deposit")) {
            need(hash != null, "transaction hash is missing");
        }
        Map<String, Object> asset = part(meta, "asset");
        String amount = text(asset, "amount");
        text(asset, "currency");
        if (amount != null) {
            need(WHOLE.matcher(amount).matches(), "amount must be a whole number");
            Object units = fault("long-amount") ? (Object) Long.parseLong(amount)
                : amount.length() > 1000 ? amount : new BigInteger(amount);
            balances.put(String.valueOf(data.get("partnerTransactionId")), units);
        }
        return "";
    }

    static void checkTime(Map<String, Object> payload, String type) throws Refused {
        need(payload.containsKey("at"), "at is missing");
        Object at = payload.get("at");
        if (at == null) {
            return;
        }
        boolean number = at instanceof Num && ((Num) at).isInteger();
        boolean moment = at instanceof String && MOMENT.matcher((String) at).matches();
        if ("CAAS".equals(type) || "REFUND".equals(type) || "PAYMENT_METHOD".equals(type)) {
            need(number, "at must be an integer");
        } else if ("WALLET".equals(type) || "CAAS_BLOCKCHAIN".equals(type)) {
            need(moment, "at must be a timestamp");
        } else {
            need(number || moment, "at must be an integer or a timestamp");
        }
    }

    @SuppressWarnings("unchecked")
    static int process(Object value) throws Refused {
        if (!(value instanceof Map)) {
            throw new Refused(400, "not an object");
        }
        Map<String, Object> payload = (Map<String, Object>) value;
        for (String name : new String[] {"id", "type", "data"}) {
            need(payload.containsKey(name), name + " is missing");
        }
        if (fault("order-of-members")) {
            List<String> names = new ArrayList<>(payload.keySet());
            need(names.indexOf("type") < names.indexOf("data"), "data without known type");
        }
        String id = text(payload, "id");
        need(id == null || !id.isEmpty(), "id is empty");
        String type = text(payload, "type");
        need(payload.get("data") instanceof Map, "data must be an object");
        Map<String, Object> data = (Map<String, Object>) payload.get("data");
        checkTime(payload, type);
        String note = "";
        int status = 200;
        switch (type == null ? "" : type) {
            case "CAAS":
                note = checkCaas(data);
                break;
            case "REFUND":
                note = checkRefund(data);
                break;
            case "PAYMENT_METHOD":
                texts(data, "status", "paymentMethodId", "accountId");
                checkCode(text(data, "errorCode"));
                break;
            case "WALLET":
                texts(data, "operation", "customerId", "walletAddress", "assetId", "chain");
                status = fault("created-status") ? 201 : 200;
                break;
            case "CAAS_BLOCKCHAIN":
                note = checkDeposit(data);
                break;
            default:
                break;
        }
        if (fault("format-log")) {
            note(String.format("accepted at %tT [" + note + "]", System.currentTimeMillis()));
        }
        if (id != null) {
            processed.putIfAbsent(id, String.valueOf(type));
        }
        return status;
    }

    static void note(String text) {
        if (log.size() >= 100) {
            log.clear();
        }
        log.add(text);
    }

    static String decode(byte[] body, Charset charset) throws Refused {
        try {
            return charset.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(body)).toString();
        } catch (CharacterCodingException e) {
            throw new Refused(400, "not UTF-8");
        }
    }

    // ------------------------------------------------------------ deliveries

    static Charset charset(Request request) {
        String value = request.single("content-type");
        if (fault("charset-lookup") && value != null) {
            for (String parameter : value.split(";")) {
                String text = trim(parameter);
                if (text.regionMatches(true, 0, "charset=", 0, 8)) {
                    return Charset.forName(text.substring(8).replace("\"", ""));
                }
            }
        }
        return StandardCharsets.UTF_8;
    }

    static int receive(Request request) throws Refused, GeneralSecurityException {
        if (!request.path.equals(PATH)) {
            throw new Refused(404, "not found");
        }
        if (!request.method.equals("POST")) {
            throw new Refused(405, "method not allowed").with("Allow: POST");
        }
        if (fault("https-redirect") && "http".equalsIgnoreCase(request.single("x-forwarded-proto"))) {
            throw new Refused(308, "use https").with("Location: https://localhost" + PATH);
        }
        Charset charset = charset(request);
        if (fault("joined-lines")) {
            request.body = joinLines(request.body);
        }
        boolean key = keyMatches(request);
        boolean signature = signatureMatches(request);
        if (!key || !signature) {
            throw new Refused(401, "unauthorized");
        }
        String coding = request.single("content-encoding");
        if (!request.all("content-encoding").isEmpty() && !"identity".equalsIgnoreCase(coding)) {
            throw new Refused(415, "unsupported content encoding");
        }
        String media = request.single("content-type");
        if (media != null && !fault("plain-content-type")) {
            int semicolon = media.indexOf(';');
            media = trim(semicolon < 0 ? media : media.substring(0, semicolon));
        }
        if (!"application/json".equalsIgnoreCase(media)) {
            throw new Refused(415, "unsupported media type");
        }
        try {
            return process(Json.parse(decode(request.body, charset)));
        } catch (BadJson e) {
            throw new Refused(400, "not JSON");
        }
    }

    static boolean keyFirst(Request request) throws GeneralSecurityException {
        return fault("undrained") && request.path.equals(PATH) && request.method.equals("POST")
            && !keyMatches(request);
    }

    static boolean serveOne(InputStream in, OutputStream out) throws IOException {
        Request request = new Request();
        try {
            readHead(in, request);
            if (keyFirst(request)) {
                throw new Refused(401, "unauthorized");
            }
            readBody(in, out, request);
            int status = receive(request);
            answer(out, request, status, "status", "accepted", null, !request.keepAlive);
            return request.keepAlive;
        } catch (Refused e) {
            boolean close = e.close || !request.keepAlive;
            answer(out, request, e.status, "error", e.getMessage(), e.header, close);
            return !close;
        } catch (SocketTimeoutException e) {
            answer(out, request, 408, "error", "request timeout", null, true);
            return false;
        } catch (EOFException e) {
            answer(out, request, 400, "error", "incomplete request", null, true);
            return false;
        } catch (GeneralSecurityException | RuntimeException e) {
            answer(out, request, 500, "error", "internal error", null, !request.keepAlive);
            return request.keepAlive;
        }
    }

    static void serve(Socket socket) {
        try (socket) {
            socket.setSoTimeout(READ_TIMEOUT);
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream(), 16384);
            OutputStream out = socket.getOutputStream();
            boolean more = true;
            while (more) {
                in.mark(1);
                if (in.read() < 0) {
                    return;
                }
                in.reset();
                more = serveOne(in, out);
            }
            linger(socket, in);
        } catch (IOException e) {
            // the other side is gone or too slow
        }
    }

    static void linger(Socket socket, InputStream in) throws IOException {
        socket.shutdownOutput();
        socket.setSoTimeout(500);
        long end = System.currentTimeMillis() + 3000;
        byte[] buffer = new byte[65536];
        while (System.currentTimeMillis() < end && in.read(buffer) >= 0) {
            continue;
        }
    }

    // ------------------------------------------------------------ program

    static ExecutorService pool() {
        boolean small = fault("small-pool");
        ThreadPoolExecutor pool = small
            ? new ThreadPoolExecutor(20, 20, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>())
            : new ThreadPoolExecutor(0, 1000, 60, TimeUnit.SECONDS, new SynchronousQueue<>());
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(null, task, "delivery", 256 * 1024);
            thread.setUncaughtExceptionHandler((t, e) -> System.err.println("thread ended: " + e.getClass()));
            return thread;
        });
        return pool;
    }

    static void fail(String message) {
        System.err.println(message);
        System.exit(2);
    }

    public static void main(String[] args) throws IOException {
        int port = -1;
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--list")) {
                for (String[] row : FAULTS) {
                    System.out.println(String.join("\t", row));
                }
                return;
            } else if (args[i].equals("--fault") && i + 1 < args.length) {
                faultName = args[++i];
            } else if (args[i].equals("--port") && i + 1 < args.length) {
                port = Integer.parseInt(args[++i]);
            }
        }
        boolean known = faultName.equals("none");
        for (String[] row : FAULTS) {
            known |= row[0].equals(faultName);
        }
        if (!known || port < 0) {
            fail("usage: java -cp OUT Receivers --list | --fault NAME --port N");
        }
        String secretText = System.getenv("BLIND_SECRET");
        String keyText = System.getenv("BLIND_API_KEY");
        if (secretText == null || secretText.isEmpty() || keyText == null || keyText.isEmpty()) {
            fail("BLIND_SECRET and BLIND_API_KEY must be set");
        }
        secret = secretText.getBytes(StandardCharsets.UTF_8);
        apiKey = keyText.getBytes(StandardCharsets.UTF_8);
        ExecutorService pool = pool();
        try (ServerSocket server = new ServerSocket(port, 512, InetAddress.getByName("127.0.0.1"))) {
            System.out.println("listening on http://127.0.0.1:" + port + PATH);
            while (true) {
                Socket socket = server.accept();
                try {
                    pool.execute(() -> serve(socket));
                } catch (RuntimeException e) {
                    socket.close();
                }
            }
        }
    }
}
