# frozen_string_literal: true

require 'json'
require 'time'

# A file with one line of JSON per notification, which is on disk before `store` returns. It is locked while the
# process lives, because the known ids are in its memory.
class Journal
  # Enough for a body of 1 MiB in which JSON escapes each byte as six bytes.
  MAX_LINE_BYTES = 8 * 1024 * 1024

  def initialize(path)
    @path = path
    @file = File.open(path, File::RDWR | File::CREAT | File::APPEND | File::BINARY, 0o600)
    abort "#{path} is in use by another process" unless @file.flock(File::LOCK_EX | File::LOCK_NB)
    @mutex = Mutex.new
    @ids, @size = {}, 0
    read_lines
    # An incomplete last line was being written when the process was killed.
    @file.truncate(@size)
    @file.fsync
  end

  # Raises SystemCallError when the notification cannot be stored. A duplicate adds no line.
  def store(id, body)
    line = "#{JSON.generate(id: id, receivedAt: Time.now.utc.iso8601(3), body: body)}\n"
    @mutex.synchronize do
      check
      next if @ids.key?(id)

      append(line)
      @ids[id] = true
    end
  end

  private

  # Changes nothing, so that a wrong path in WEBHOOK_JOURNAL is harmless.
  def read_lines
    @file.each_line("\n", MAX_LINE_BYTES).with_index(1) do |line, number|
      break if !line.end_with?("\n") && @file.eof? && line.start_with?('{"id":')

      id = id_of(line) or abort "#{@path} line #{number} is not a line of a journal"
      @ids[id] = true
      @size += line.bytesize
    end
  end

  def id_of(line)
    stored = StrictJSON.parse(line) if line.end_with?("\n")
    id = stored['id'] if stored.is_a?(Hash)
    id if id.is_a?(String)
  rescue JSON::ParserError
    nil
  end

  # A file that was removed or replaced would be missing at the next start. One of another size has part of a line that
  # could not be cut off, or lines of another program.
  def check
    return if File.identical?(@path, @file) && @file.size == @size

    raise Errno::ESTALE, "#{@path} is not the file that this process has written"
  end

  def append(line)
    raise Errno::ENOSPC, @path unless @file.syswrite(line) == line.bytesize

    @file.fsync
    @size += line.bytesize
  rescue SystemCallError
    @file.truncate(@size)
    raise
  end
end

# Parses JSON in UTF-8, and rejects the comments that JSON.parse accepts.
module StrictJSON
  # Outside its strings, JSON has no slash.
  WITHOUT_COMMENTS = %r{\A(?>[^"/]++|"(?>[^"\\]++|\\.)*+")*+\z}m

  def self.parse(text)
    text = text.dup.force_encoding(Encoding::UTF_8)
    raise JSON::ParserError, 'not JSON' unless text.valid_encoding? && text.match?(WITHOUT_COMMENTS)

    JSON.parse(text)
  end
end
