# frozen_string_literal: true

module Bench
  # Lines over a logarithmic width, as SVG.
  class Chart
    WIDTH = 640
    HEIGHT = 400
    LEFT = 70
    RIGHT = 150
    TOP = 50
    BOTTOM = 60
    COLOURS = %w[#1b6ca8 #c0392b #2e8b57 #8e44ad].freeze

    # @param title [String]
    # @param across [String] what the x axis shows
    # @param upward [String] what the y axis shows
    # @param series [Hash{String => Hash{Numeric => Numeric}}] the points of each line
    # @param log [Boolean] whether the y axis is logarithmic, too
    def initialize(title, across:, upward:, series:, log: false)
      @title = title
      @across = across
      @upward = upward
      @series = series
      @log = log
      @xs = series.values.flat_map(&:keys).uniq.sort
      @ticks = log ? decades : steps
    end

    # @param path [String]
    def write(path)
      File.write(path, "#{[head, grid, labels, *lines, '</svg>'].join("\n")}\n")
    end

    private

    def largest
      @series.values.flat_map(&:values).max
    end

    def smallest
      @series.values.flat_map(&:values).min
    end

    # From zero on, in about five round steps.
    def steps
      raw = largest / 5.0
      unit = 10.0**Math.log10(raw).floor
      step = [1, 2, 5, 10].map { |factor| factor * unit }.find { |size| size >= raw }
      (0..(largest / step).ceil).map { |index| index * step }
    end

    def decades
      (Math.log10(smallest).floor..Math.log10(largest).ceil).map { |exponent| 10.0**exponent }
    end

    def place_x(value)
      share = @xs.size > 1 ? Math.log(value.fdiv(@xs.first)) / Math.log(@xs.last.fdiv(@xs.first)) : 0.5
      (LEFT + (share * (WIDTH - LEFT - RIGHT))).round(1)
    end

    def place_y(value)
      low, high = @ticks.minmax
      share = @log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)
      (HEIGHT - BOTTOM - (share * (HEIGHT - TOP - BOTTOM))).round(1)
    end

    def head
      <<~SVG.chomp
        <svg xmlns="http://www.w3.org/2000/svg" width="#{WIDTH}" height="#{HEIGHT}" viewBox="0 0 #{WIDTH} #{HEIGHT}" font-family="sans-serif" font-size="13" fill="#222">
        <rect width="100%" height="100%" fill="white"/>
        #{text(LEFT, 28, @title, 'font-size="16" font-weight="bold"')}
      SVG
    end

    def grid
      across = @ticks.map { |tick| line(LEFT, place_y(tick), WIDTH - RIGHT, place_y(tick), '#ddd') }
      up = @xs.map { |x| line(place_x(x), TOP, place_x(x), HEIGHT - BOTTOM, '#eee') }
      across + up + [line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, '#222'),
                     line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, '#222')]
    end

    def labels
      middle = (HEIGHT - BOTTOM + TOP) / 2
      @ticks.map { |tick| text(LEFT - 8, place_y(tick) + 4, number(tick), 'text-anchor="end"') } +
        @xs.map { |x| text(place_x(x), HEIGHT - BOTTOM + 20, x, 'text-anchor="middle"') } +
        [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, @across, 'text-anchor="middle"'),
         text(18, middle, @upward, "text-anchor=\"middle\" transform=\"rotate(-90 18 #{middle})\"")]
    end

    def lines
      ends = legend_places
      @series.each_with_index.map do |(name, points), index|
        colour = COLOURS[index % COLOURS.size]
        places = points.sort.map { |x, y| [place_x(x), place_y(y)] }
        path = places.map { |place| place.join(',') }.join(' ')
        [%(<polyline points="#{path}" fill="none" stroke="#{colour}" stroke-width="2"/>),
         *places.map { |x, y| %(<circle cx="#{x}" cy="#{y}" r="3.5" fill="#{colour}"/>) },
         text(WIDTH - RIGHT + 10, ends.fetch(name) + 4, name, "fill=\"#{colour}\"")]
      end
    end

    # Names stand where their lines end, but not on top of each other.
    def legend_places
      previous = -100
      ends = @series.transform_values { |points| place_y(points.max_by(&:first).last) }
      ends.sort_by(&:last).to_h.transform_values { |place| previous = [place, previous + 18].max }
    end

    def line(from_x, from_y, to_x, to_y, colour)
      %(<line x1="#{from_x}" y1="#{from_y}" x2="#{to_x}" y2="#{to_y}" stroke="#{colour}"/>)
    end

    def text(place_x, place_y, content, attributes)
      escaped = content.to_s.gsub('&', '&amp;').gsub('<', '&lt;')
      %(<text x="#{place_x}" y="#{place_y}" #{attributes}>#{escaped}</text>)
    end

    def number(value)
      value == value.to_i ? value.to_i : value
    end
  end
end
