import java.net.URLEncoder;
import java.util.*;
import java.util.stream.*;

/**
 * Prints the forms of Java of each body on standard input, one in each line, in base64, as one JSON list of lists. The
 * JDK has no JSON parser, so this one reads what the bodies of the test have, and makes the maps that Jackson and Gson
 * make.
 */
class Print {
  static String text;
  static int at;

  public static void main(String[] args) throws Exception {
    List<String> bodies = new ArrayList<>();
    for (String line : new String(System.in.readAllBytes(), "UTF-8").split("\n")) bodies.add(forms(line));
    System.out.println("[" + String.join(",", bodies) + "]");
  }

  static String forms(String body) throws Exception {
    byte[] bytes = body.getBytes("UTF-8");
    return Stream.of(parse(body, false).toString(), parse(body, true).toString(), Arrays.toString(bytes),
        Base64.getMimeEncoder().encodeToString(bytes), URLEncoder.encode(body, "UTF-8"))
        .map(form -> Base64.getEncoder().encodeToString(form.getBytes(java.nio.charset.StandardCharsets.UTF_8)))
        .collect(Collectors.joining("\",\"", "[\"", "\"]"));
  }

  static Object parse(String body, boolean doubles) {
    text = body;
    at = 0;
    return value(doubles);
  }

  static Object value(boolean doubles) {
    skip();
    char first = text.charAt(at);
    if (first == '{') {
      Map<String, Object> map = new LinkedHashMap<>();
      for (at++, skip(); text.charAt(at) != '}'; skip()) {
        String key = string();
        skip();
        map.put(key, value(doubles));
      }
      at++;
      return map;
    }
    if (first == '[') {
      List<Object> list = new ArrayList<>();
      for (at++, skip(); text.charAt(at) != ']'; skip()) list.add(value(doubles));
      at++;
      return list;
    }
    if (first == '"') return string();
    int start = at;
    while ("+-.eE0123456789truefalsn".indexOf(text.charAt(at)) >= 0) at++;
    String token = text.substring(start, at);
    if (token.equals("null")) return null;
    if (token.matches("true|false")) return Boolean.valueOf(token);
    if (doubles || !token.matches("-?\\d+")) return Double.valueOf(token);
    return new java.math.BigInteger(token);
  }

  static void skip() {
    while (" ,:".indexOf(text.charAt(at)) >= 0) at++;
  }

  static String string() {
    StringBuilder made = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char character = text.charAt(at);
      if (character != '\\') made.append(character);
      else if (text.charAt(++at) == 'n') made.append('\n');
      else if (text.charAt(at) == 'u') made.append((char) Integer.parseInt(text.substring(at + 1, (at += 4) + 1), 16));
      else made.append(text.charAt(at));
    }
    at++;
    return made.toString();
  }
}
