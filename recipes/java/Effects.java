import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only. Uses its JSON
 * parser: `javac -d build Effects.java`, then `java -cp build Effects notification=ID,ID` or `transaction=ID`.
 */
public class Effects {
    private static final Map<String, Integer> DECIMALS = Map.of("BTC", 8, "ETH", 18, "USDC", 6, "GUSD", 2, "NEO", 0);
    /** Amounts with more digits are omitted. */
    private static final int MAX_DIGITS = 1000;

    public static void main(String[] args) throws IOException {
        Matcher query = Pattern.compile("(notification|transaction)=(.+)").matcher(String.join(" ", args));
        if (!query.matches()) {
            System.err.println("Give notification=ID,ID or transaction=ID.");
            System.exit(1);
        }
        Set<String> ids = Stream.of(query.group(2).split(","))
                .map(id -> URLDecoder.decode(id.replace("+", "%2B"), UTF_8)).collect(Collectors.toSet());
        Path path = Path.of(System.getenv().getOrDefault("WEBHOOK_JOURNAL", "journal.ndjson"));
        String journal = new String(Files.readAllBytes(path), UTF_8);
        // An incomplete last line is still being written.
        List<Map<String, String>> all = journal.substring(0, journal.lastIndexOf('\n') + 1).lines()
                .map(line -> handling(Json.parse((String) at(Json.parse(line), "body")))).toList();
        String handled = all.stream().filter(one -> ids.contains(one.getOrDefault(query.group(1), "")))
                .map(Effects::json).collect(Collectors.joining(","));
        System.out.write("{\"total\":%d,\"handled\":[%s]}%n".formatted(all.size(), handled).getBytes(UTF_8));
    }

    private static Map<String, String> handling(Object notification) {
        Object data = at(notification, "data");
        String type = first(notification, "type"), kind = first(data, "type");
        String atomic = first(data, "metadata.asset.amount");
        String currency = first(data, "metadata.asset.currency", "metadata.currency",
                "metadata.blockchainData.currency", "assetId");
        var values = new LinkedHashMap<String, String>();
        values.put("notification", first(notification, "id"));
        values.put("kind", "CAAS".equals(type) && kind != null ? "CAAS_" + kind : type);
        values.put("status", first(data, "metadata.orderStatus", "metadata.providerTransactionStatus", "status"));
        values.put("transaction", first(data, "transactionId", "partnerTransactionId"));
        values.put("customer", first(data, "customerId", "accountId"));
        values.put("paymentMethod", first(data, "paymentMethodId"));
        values.put("address", first(data, "walletAddress"));
        values.put("hash", first(data,
                "metadata.blockchainData.blockchainTransactionId", "metadata.blockchainTransactionId",
                "metadata.blockchainData.blockchainTransctionId", "metadata.blockchainTransctionId"));
        values.put("amount", atomic == null ? first(data, "metadata.amount") : displayAmount(atomic, currency));
        values.put("currency", currency);
        values.put("errorCode", first(data, "errorData.code", "errorCode"));
        values.values().removeIf(Objects::isNull);
        return values;
    }

    /** Returns the first of these fields that is filled, or null. */
    private static String first(Object object, String... paths) {
        return Stream.of(paths).map(path -> at(object, path))
                .filter(value -> value instanceof String text && !text.isEmpty())
                .map(String.class::cast).findFirst().orElse(null);
    }

    private static Object at(Object value, String path) {
        for (String key : path.split("\\.")) value = value instanceof Map<?, ?> object ? object.get(key) : null;
        return value;
    }

    /**
     * Moves the decimal point in the string: a double would lose digits. An asset without known decimals has no amount.
     */
    private static String displayAmount(String atomic, String currency) {
        if (currency == null || !DECIMALS.containsKey(currency) || atomic.length() > MAX_DIGITS
                || !atomic.matches("[0-9]+")) return null;
        int decimals = DECIMALS.get(currency);
        String digits = "0".repeat(Math.max(0, decimals + 1 - atomic.length())) + atomic;
        int point = digits.length() - decimals;
        return (digits.substring(0, point) + "." + digits.substring(point)).replaceAll("\\.?0*$", "");
    }

    private static String json(Map<String, String> values) {
        return values.entrySet().stream().map(value -> quoted(value.getKey()) + ":" + quoted(value.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String quoted(String text) {
        Matcher special = Pattern.compile("[\"\\\\\\x00-\\x1f]").matcher(text);
        return '"' + special.replaceAll(c -> "\\\\u%04x".formatted((int) c.group().charAt(0))) + '"';
    }
}
