import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A right receiver. HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port. */
final class Receiver {
  private static final byte[] SECRET = System.getenv("HOOKPROOF_SECRET").getBytes(StandardCharsets.UTF_8);
  private static final byte[] API_KEY = System.getenv("HOOKPROOF_API_KEY").getBytes(StandardCharsets.UTF_8);

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
    server.createContext("/hooks", Receiver::handle);
    server.setExecutor(Executors.newFixedThreadPool(16));
    server.start();
    System.out.println(server.getAddress().getPort());
  }

  private static void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      int status = status(exchange);
      exchange.sendResponseHeaders(status, -1);
    }
  }

  private static int status(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestMethod().equals("POST")) return 405;
    boolean signed = MessageDigest.isEqual(only(exchange, "X-Service-Signature"), signature(body));
    boolean keyed = MessageDigest.isEqual(only(exchange, "X-API-Key"), API_KEY);
    if (!signed || !keyed) return 401;
    return looksLikeNotification(body) ? 200 : 400;
  }

  private static byte[] only(HttpExchange exchange, String name) {
    List<String> values = exchange.getRequestHeaders().get(name);
    boolean once = values != null && values.size() == 1;
    return (once ? values.get(0) : "").getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] signature(byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
      return Base64.getEncoder().encode(mac.doFinal(body));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Java has no JSON parser: the body is put into a queue as it is, and only what is not an object is rejected. */
  private static boolean looksLikeNotification(byte[] body) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString().strip();
      return text.startsWith("{") && text.endsWith("}") && text.contains("\"id\"");
    } catch (CharacterCodingException notText) {
      return false;
    }
  }
}
