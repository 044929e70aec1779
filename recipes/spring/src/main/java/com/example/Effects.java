package com.example;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only. Run
 * `mvn dependency:copy-dependencies` once, then
 * `java -cp "target/dependency/*" src/main/java/com/example/Effects.java notification=ID,ID` or `transaction=ID`.
 */
public class Effects {
    private static final Map<String, Integer> DECIMALS = Map.of("BTC", 8, "ETH", 18, "USDC", 6, "GUSD", 2, "NEO", 0);
    /** Amounts with more digits are omitted. */
    private static final int MAX_DIGITS = 1000;
    private static final ObjectMapper JSON = new ObjectMapper();

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
        var all = new ArrayList<Map<String, String>>();
        // An incomplete last line is still being written.
        for (String line : journal.substring(0, journal.lastIndexOf('\n') + 1).lines().toList()) {
            all.add(handling(JSON.readTree(JSON.readTree(line).path("body").textValue())));
        }
        var handled = all.stream().filter(one -> ids.contains(one.getOrDefault(query.group(1), ""))).toList();
        JSON.writeValue(System.out, Map.of("total", all.size(), "handled", handled));
    }

    private static Map<String, String> handling(JsonNode notification) {
        JsonNode data = notification.path("data");
        String type = notification.path("type").textValue(), kind = first(data, "/type");
        String atomic = first(data, "/metadata/asset/amount");
        String currency = first(data, "/metadata/asset/currency", "/metadata/currency",
                "/metadata/blockchainData/currency", "/assetId");
        var values = new LinkedHashMap<String, String>();
        values.put("notification", notification.path("id").textValue());
        values.put("kind", "CAAS".equals(type) && kind != null ? "CAAS_" + kind : type);
        values.put("status", first(data, "/metadata/orderStatus", "/metadata/providerTransactionStatus", "/status"));
        values.put("transaction", first(data, "/transactionId", "/partnerTransactionId"));
        values.put("customer", first(data, "/customerId", "/accountId"));
        values.put("paymentMethod", first(data, "/paymentMethodId"));
        values.put("address", first(data, "/walletAddress"));
        values.put("hash", first(data,
                "/metadata/blockchainData/blockchainTransactionId", "/metadata/blockchainTransactionId",
                "/metadata/blockchainData/blockchainTransctionId", "/metadata/blockchainTransctionId"));
        values.put("amount", atomic == null ? first(data, "/metadata/amount") : displayAmount(atomic, currency));
        values.put("currency", currency);
        values.put("errorCode", first(data, "/errorData/code", "/errorCode"));
        values.values().removeIf(Objects::isNull);
        return values;
    }

    /** Returns the first of these fields that is filled, or null. */
    private static String first(JsonNode object, String... pointers) {
        return Stream.of(pointers).map(pointer -> object.at(pointer).textValue())
                .filter(text -> text != null && !text.isEmpty()).findFirst().orElse(null);
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
}
