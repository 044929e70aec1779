using System.Text;
using System.Text.Json;

/// <summary>A file with one line of JSON per notification, which is on disk before Store returns.</summary>
class Journal
{
    // Enough for a body of 1 MiB in which JSON escapes each byte as six bytes.
    const int MaxLineBytes = 8 * 1024 * 1024;

    static readonly JsonSerializerOptions Web = new(JsonSerializerDefaults.Web);
    readonly HashSet<string> ids = [];
    readonly string path;
    readonly FileStream lockFile;
    readonly FileStream file;
    long size;

    record Entry(string Id, DateTime ReceivedAt, string Body);

    /// <summary>Throws IOException when the journal is in use, or not a journal.</summary>
    public Journal(string path)
    {
        this.path = path;
        lockFile = Lock($"{path}.lock");
        file = Open(path, FileShare.Read);
        ReadLines();
        // An incomplete last line was being written when the process was killed.
        file.SetLength(size);
        file.Flush(flushToDisk: true);
    }

    // The lock is held while the process lives, because the known ids are in its memory. It is a separate file, because
    // FileShare.None also locks out readers such as Effects.cs, except on Windows.
    FileStream Lock(string name)
    {
        try
        {
            return Open(name, FileShare.None);
        }
        catch (IOException error) when (error is not DirectoryNotFoundException)
        {
            throw new IOException($"{path} is in use by another process", error);
        }
    }

    static FileStream Open(string name, FileShare share)
    {
        var options = new FileStreamOptions
        {
            Mode = FileMode.OpenOrCreate, Access = FileAccess.ReadWrite, Share = share, BufferSize = 0,
        };
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        return new FileStream(name, options);
    }

    // Changes nothing, so that a wrong path in WEBHOOK_JOURNAL is harmless.
    void ReadLines()
    {
        var block = new byte[64 * 1024];
        using var line = new MemoryStream();
        var number = 1;
        for (int length; (length = file.Read(block)) > 0;)
        {
            var rest = block.AsSpan(0, length);
            for (int end; (end = rest.IndexOf((byte)'\n')) >= 0; rest = rest[(end + 1)..])
            {
                line.Write(rest[..(end + 1)]);
                ids.Add(IdOf(line) ?? throw NotALine(number));
                size += line.Length;
                number++;
                line.SetLength(0);
            }
            line.Write(rest);
            if (line.Length > MaxLineBytes) throw NotALine(number);
        }
        var torn = line.GetBuffer().AsSpan(0, (int)line.Length);
        if (torn.Length > 0 && !torn.StartsWith("{\"id\":"u8)) throw NotALine(number);
    }

    static string? IdOf(MemoryStream line)
    {
        try
        {
            using var entry = JsonDocument.Parse(line.GetBuffer().AsMemory(0, (int)line.Length));
            var isObject = entry.RootElement.ValueKind == JsonValueKind.Object;
            return isObject && entry.RootElement.TryGetProperty("id", out var id) ? id.GetString() : null;
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            return null; // InvalidOperationException: the id is not a string.
        }
    }

    IOException NotALine(int number) => new($"{path} line {number} is not a line of a journal");

    /// <summary>Throws IOException when the notification cannot be stored. A duplicate adds no line.</summary>
    public void Store(string id, byte[] body)
    {
        var entry = new Entry(id, DateTime.UtcNow, Encoding.UTF8.GetString(body));
        var line = Encoding.UTF8.GetBytes(JsonSerializer.Serialize(entry, Web) + "\n");
        lock (ids)
        {
            Check();
            if (ids.Contains(id)) return;
            try
            {
                file.Position = size;
                file.Write(line);
                file.Flush(flushToDisk: true);
            }
            catch (IOException)
            {
                file.SetLength(size);
                throw;
            }
            size += line.Length;
            ids.Add(id);
        }
    }

    // A file that was removed or replaced would be missing at the next start. .NET shows only its size.
    void Check()
    {
        var found = new FileInfo(path);
        if (!found.Exists || found.Length != size)
            throw new IOException($"{path} is not the file that this process has written");
    }
}
