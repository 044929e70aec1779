// Receives signed notifications with ASP.NET Core: verifies the raw body, appends it to a journal, and answers 200.
//
// Start it with `dotnet run` (.NET 8 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them;
// the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson, with an empty
// `journal.ndjson.lock`). One process only: the known ids are in memory. For several, use a database with unique ids.
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Primitives;

var journalPath = Setting("WEBHOOK_JOURNAL", "journal.ndjson");
// `Effects.cs`, for test environments only.
if (args is ["effects", var query]) return Effects.Print(journalPath, query);

// During a rotation, the previous secret is also valid.
var secrets = new[] { Setting("WEBHOOK_SECRET", ""), Setting("WEBHOOK_PREVIOUS_SECRET", "") }
    .Where(secret => secret != "").Select(secret => Encoding.UTF8.GetBytes(secret)).ToList();
var apiKey = Setting("WEBHOOK_API_KEY", "");
if (secrets.Count == 0 && apiKey == "")
{
    Console.Error.WriteLine("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post.");
    return 1;
}
Journal journal;
try
{
    journal = new Journal(journalPath);
}
catch (IOException error)
{
    Console.Error.WriteLine(error.Message);
    return 1;
}

var builder = WebApplication.CreateBuilder();
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.ConfigureKestrel(kestrel =>
{
    kestrel.Limits.MaxRequestBodySize = 1024 * 1024;
    kestrel.Limits.MaxConcurrentConnections = 512; // Each can make the process hold one body.
    kestrel.Limits.MaxRequestHeadersTotalSize = 16 * 1024;
    kestrel.Limits.RequestHeadersTimeout = TimeSpan.FromSeconds(10);
    kestrel.Limits.KeepAliveTimeout = TimeSpan.FromSeconds(60);
    kestrel.Limits.MinRequestBodyDataRate = new(bytesPerSecond: 240, gracePeriod: TimeSpan.FromSeconds(5));
});
var app = builder.Build();

// Takes only the context: binding a parameter would parse the body before it is verified.
app.MapPost("/hooks", async context => context.Response.StatusCode = await Receive(context));

var (host, port) = (Setting("HOST", "127.0.0.1"), Setting("PORT", "3000"));
app.Urls.Add($"http://{host}:{port}");
await app.StartAsync();
Console.WriteLine($"listening on http://{host}:{port}/hooks");
await app.WaitForShutdownAsync();
return 0;

// Returns the status for a delivery.
async Task<int> Receive(HttpContext context)
{
    using var buffer = new MemoryStream();
    try
    {
        await context.Request.Body.CopyToAsync(buffer, context.RequestAborted);
    }
    catch (BadHttpRequestException error)
    {
        return error.StatusCode; // 413 when the body is larger than MaxRequestBodySize
    }
    var body = buffer.ToArray();
    if (!IsAuthentic(context.Request.Headers, body)) return 401;
    if (NotificationId(body) is not { } id) return 400;
    try
    {
        journal.Store(id, body);
        return 200;
    }
    catch (IOException error)
    {
        app.Logger.LogError(error, "Not stored");
        return 503; // The sender can deliver it again.
    }
}

bool IsAuthentic(IHeaderDictionary headers, byte[] body)
{
    var isSigned = secrets.Count == 0;
    foreach (var secret in secrets)
    {
        var signature = Convert.ToBase64String(HMACSHA256.HashData(secret, body));
        isSigned |= IsSame(headers["X-Service-Signature"], signature);
    }
    return isSigned && (apiKey == "" || IsSame(headers["X-API-Key"], apiKey));
}

// Requires exactly one line of the header. Compares digests, so that the time does not depend on the lengths.
static bool IsSame(StringValues received, string expected) =>
    received.Count == 1 && CryptographicOperations.FixedTimeEquals(
        SHA256.HashData(Encoding.UTF8.GetBytes(received[0] ?? "")), SHA256.HashData(Encoding.UTF8.GetBytes(expected)));

// Returns the id; null when the body is not a notification. Unknown types and fields are accepted.
static string? NotificationId(byte[] body)
{
    try
    {
        // Decodes strictly. A byte order mark stays in the text, where JSON does not allow it.
        using var document = JsonDocument.Parse(new UTF8Encoding(false, throwOnInvalidBytes: true).GetString(body));
        var notification = document.RootElement;
        if (notification.ValueKind != JsonValueKind.Object) return null;
        if (!notification.TryGetProperty("data", out var data) || data.ValueKind != JsonValueKind.Object) return null;
        if (!notification.TryGetProperty("type", out var type) || type.ValueKind != JsonValueKind.String) return null;
        if (!notification.TryGetProperty("id", out var value) || value.ValueKind != JsonValueKind.String) return null;
        var id = value.GetString()!;
        return id.Length is > 0 and <= 200 && !id.Any(char.IsControl) ? id : null;
    }
    catch (Exception error) when (error is JsonException or DecoderFallbackException or InvalidOperationException)
    {
        return null; // InvalidOperationException: an unpaired surrogate in the id
    }
}

static string Setting(string name, string fallback) =>
    Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : fallback;
