// Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
// `dotnet run --no-build -- effects notification=ID,ID` or `dotnet run --no-build -- effects transaction=ID`
using System.Text.Json;
using System.Text.RegularExpressions;

static class Effects
{
    static readonly Dictionary<string, int> Decimals =
        new() { ["BTC"] = 8, ["ETH"] = 18, ["USDC"] = 6, ["GUSD"] = 2, ["NEO"] = 0 };

    /// <summary>Prints the answer to a query, and returns the exit code.</summary>
    public static int Print(string journal, string query)
    {
        var asked = Regex.Match(query, @"\A(notification|transaction)=(.+)\z");
        if (!asked.Success)
        {
            Console.Error.WriteLine("Give notification=ID,ID or transaction=ID.");
            return 1;
        }
        var ids = asked.Groups[2].Value.Split(',').Select(Uri.UnescapeDataString).ToHashSet();
        // The receiver has the file open. An incomplete last line is still being written.
        using var file = new StreamReader(new FileStream(journal, FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
        var lines = file.ReadToEnd().Split('\n')[..^1];
        var all = lines.Select(Handling).ToList();
        var handled = all.Where(one => one.TryGetValue(asked.Groups[1].Value, out var id) && ids.Contains(id));
        Console.WriteLine(JsonSerializer.Serialize(new { total = all.Count, handled }));
        return 0;
    }

    static Dictionary<string, string> Handling(string line)
    {
        using var entry = JsonDocument.Parse(line);
        using var notification = JsonDocument.Parse(entry.RootElement.GetProperty("body").GetString()!);
        // Returns the first of these fields that is filled.
        string? First(params string[] paths) =>
            paths.Select(path => TextAt(notification.RootElement, path)).FirstOrDefault(text => text is { Length: > 0 });
        var (type, kind) = (First("type"), First("data.type"));
        var atomic = First("data.metadata.asset.amount");
        var currency = First(
            "data.metadata.asset.currency", "data.metadata.currency", "data.metadata.blockchainData.currency",
            "data.assetId");
        var values = new Dictionary<string, string?>
        {
            ["notification"] = First("id"),
            ["kind"] = type == "CAAS" && kind != null ? $"CAAS_{kind}" : type,
            ["status"] = First("data.metadata.orderStatus", "data.metadata.providerTransactionStatus", "data.status"),
            ["transaction"] = First("data.transactionId", "data.partnerTransactionId"),
            ["customer"] = First("data.customerId", "data.accountId"),
            ["paymentMethod"] = First("data.paymentMethodId"),
            ["address"] = First("data.walletAddress"),
            ["hash"] = First(
                "data.metadata.blockchainData.blockchainTransactionId", "data.metadata.blockchainTransactionId",
                "data.metadata.blockchainData.blockchainTransctionId", "data.metadata.blockchainTransctionId"),
            ["amount"] = atomic == null ? First("data.metadata.amount") : DisplayAmount(atomic, currency),
            ["currency"] = currency,
            ["errorCode"] = First("data.errorData.code", "data.errorCode"),
        };
        return values.Where(value => value.Value != null).ToDictionary(value => value.Key, value => value.Value!);
    }

    static string? TextAt(JsonElement value, string path)
    {
        foreach (var key in path.Split('.'))
        {
            if (value.ValueKind != JsonValueKind.Object || !value.TryGetProperty(key, out var inner)) return null;
            value = inner;
        }
        return value.ValueKind == JsonValueKind.String ? value.GetString() : null;
    }

    // Moves the decimal point in the string, because a double would lose digits. An asset whose decimals are unknown
    // has no amount.
    static string? DisplayAmount(string atomic, string? currency)
    {
        if (currency == null || !Decimals.TryGetValue(currency, out var decimals)) return null;
        if (!atomic.All(char.IsAsciiDigit)) return null;
        var digits = atomic.PadLeft(decimals + 1, '0');
        return digits.Insert(digits.Length - decimals, ".").TrimEnd('0').TrimEnd('.');
    }
}
