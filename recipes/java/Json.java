import java.util.*;
import java.util.regex.*;

/** A strict parser, because the JDK has none. An object is a map, a string is a string, and everything else is null. */
final class Json {
    private static final Pattern SCALAR =
            Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?|true|false|null");
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(64);
        json.skipSpace();
        json.check(json.at == text.length());
        return value;
    }

    private Object value(int levels) {
        check(levels > 0);
        if (take('"')) return string();
        if (take('[')) {
            if (take(']')) return null;
            do value(levels - 1); while (take(','));
            check(take(']'));
            return null;
        }
        if (take('{')) {
            Map<String, Object> members = new HashMap<>();
            if (take('}')) return members;
            do {
                check(take('"'));
                String name = string();
                check(take(':'));
                members.put(name, value(levels - 1));
            } while (take(','));
            check(take('}'));
            return members;
        }
        Matcher scalar = SCALAR.matcher(text).region(at, text.length());
        check(scalar.lookingAt());
        at = scalar.end();
        return null;
    }

    /** Reads what follows an opening quote. */
    private String string() {
        var result = new StringBuilder();
        for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
            check(c >= ' ');
            result.append(c == '\\' ? unescaped(text.charAt(at++)) : c);
        }
        return result.toString();
    }

    private char unescaped(char c) {
        if (c == 'u') return (char) HexFormat.fromHexDigits(text, at, at += 4);
        int index = "\"\\/bfnrt".indexOf(c);
        check(index >= 0);
        return "\"\\/\b\f\n\r\t".charAt(index);
    }

    private boolean take(char expected) {
        skipSpace();
        if (at == text.length() || text.charAt(at) != expected) return false;
        at++;
        return true;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private void check(boolean isJson) {
        if (!isJson) throw new IllegalArgumentException("not JSON at character " + at);
    }
}
